#include "matrices/dc2_like.hpp"

#include "matrices/random.hpp"
#include "matrices/row_by_row.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

namespace solver::matrices {
namespace {

using Node = std::int32_t;

// The measured anatomy of dc2.
constexpr int size = 116'835;
constexpr int nonzeros = 766'396;
constexpr Node rail_a = 89;  // row 90, counted from 1
constexpr Node rail_b = 90;
constexpr int rail_a_row = 114'190, rail_a_column = 114'174;
constexpr int rail_b_row = 47'193, rail_b_column = 47'175;
constexpr int nets = 26;
constexpr int one_way = 97'435;      // off-diagonal entries without a mirror: pattern symmetry 0.85
constexpr int reciprocal = 77'947;   // pairs of equal mirrored entries: numeric symmetry 0.24
constexpr double quantum = 0x1p-17;  // of row B: its entries below 128 are then representable in float
constexpr double rail_b_diagonal = 58'106.8515625;
constexpr double rail_b_excess = -655 * quantum;  // nearest to -0.005; the source adds -1

// Entries outside the rows and columns of the rails. The two between the rails would be counted twice.
constexpr int local = (nonzeros - size) - (rail_a_row + rail_a_column + rail_b_row + rail_b_column - 4 - 2);
constexpr int fixed_seen_by_a = rail_a_row - rail_a_column;
constexpr int fixed_seen_by_b = rail_b_row - rail_b_column;
constexpr int local_one_way = one_way - fixed_seen_by_a - fixed_seen_by_b;
constexpr int local_pairs = (local - local_one_way) / 2;
static_assert(2 * local_pairs + local_one_way == local);

// What the circuit is made of. Row lengths follow from it: 1 fixed, 2 gates and branches, 3 to 6 diodes and wires,
// 5 to 10 transistors.
constexpr int transistors = (rail_b_column - 3) / 2;  // two nodes each; the other three are diagonal, rail A and a source
constexpr int gates = 32'000;                         // nets held by rail A alone
constexpr int fixed = 600;                            // floating nets, held by their leak alone
constexpr int sources = 16;                           // branch currents; the first two belong to the rails
constexpr int wires = reciprocal - sources;           // resistors between neighbours along two chains
constexpr int chain_breaks = 80;
constexpr int wire_nodes = wires + 2 + chain_breaks - 2 * transistors;
constexpr int untied = size - rail_a_column - fixed - (sources - 1);  // wire nodes without an entry in column A
constexpr int diode_nodes = size - 2 - 2 * transistors - wire_nodes - gates - fixed - sources - nets;
constexpr int gate_connections = 43'700;  // each controls both nodes of a transistor
constexpr int one_gate_transistors = 10'614;
constexpr int sensors = local_one_way - 2 * gate_connections;  // wire nodes that a gate controls
constexpr int device_sizes = 600;

constexpr int fan_out(int net) { return 241 + net % 14; }

constexpr int diodes() {
    int count = local_pairs - wires - (sources - 2) - transistors;
    for (int net = 0; net < nets; ++net) count -= fan_out(net);
    return count;
}

/// The element that stands as far along its list as i of count.
Node at_fraction(const std::vector<Node>& list, std::int64_t i, std::int64_t count) {
    return list[static_cast<std::size_t>(i * static_cast<std::int64_t>(list.size()) / count)];
}

/// The least float that is not below a positive number.
double float_above(double value) {
    const auto rounded = static_cast<float>(value);
    return rounded < value ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) + 1) : rounded;
}

double down_to_quantum(double positive) { return static_cast<double>(static_cast<std::int64_t>(positive / quantum)) * quantum; }

/// Nodes of each kind in the order of their numbers, which is also the order along the chains.
struct Nodes {
    std::vector<Node> nets, wires, diodes, gates, fixed, branches;
    std::vector<std::array<Node, 2>> transistors;  // drain and source, adjacent
    std::array<std::vector<Node>, 2> chains;       // drains and some wires; sources and the other wires
};

/// Deals the kinds over the numbers like cards; only the nets come early, among the first 89, as global nets do.
Nodes place_nodes(Random& random) {
    enum class Kind { transistor, wire, diode, gate, fixed, branch };
    std::vector<Kind> cards;
    const auto put = [&](int count, Kind kind) { cards.insert(cards.end(), static_cast<std::size_t>(count), kind); };
    put(transistors, Kind::transistor);
    put(wire_nodes, Kind::wire);
    put(diode_nodes, Kind::diode);
    put(gates, Kind::gate);
    put(fixed, Kind::fixed);
    put(sources, Kind::branch);
    random.shuffle(cards);

    Nodes nodes;
    for (Node net = 0; net < nets; ++net) nodes.nets.push_back(3 * net + 2);
    Node next = 0;
    const auto take = [&] {
        while (next == rail_a || next == rail_b || (next < 3 * nets && next % 3 == 2)) ++next;
        return next++;
    };
    for (const Kind kind : cards) {
        const Node node = take();
        switch (kind) {
            case Kind::transistor:
                nodes.transistors.push_back({node, take()});
                for (std::size_t side : {0, 1}) nodes.chains[side].push_back(nodes.transistors.back()[side]);
                break;
            case Kind::wire:
                nodes.wires.push_back(node);
                nodes.chains[random.coin() ? 1 : 0].push_back(node);
                break;
            case Kind::diode:
                nodes.diodes.push_back(node);
                break;
            case Kind::gate:
                nodes.gates.push_back(node);
                break;
            case Kind::fixed:
                nodes.fixed.push_back(node);
                break;
            case Kind::branch:
                nodes.branches.push_back(node);
                break;
        }
    }
    return nodes;
}

/// Stamps devices into the rows one kind after the other; diagonals come last, from Kirchhoff's law.
class Circuit {
public:
    CsrMatrix<double> build() {
        lay_wires();
        place_transistors();
        place_diodes();
        connect_nets();
        place_sensors();
        connect_rail_a();
        connect_rail_b();
        close_rows();
        place_sources();
        return assemble();
    }

private:
    void add(Node row, Node column, double value) { rows_[static_cast<std::size_t>(row)].push_back({column, value}); }

    /// A conductance between two nodes whose current b controls with `excess` more than a: not reciprocal.
    void add_controlled(Node a, Node b, double conductance, double excess) {
        add(a, b, -(conductance + excess));
        add(b, a, -conductance);
    }

    void lay_wires() {
        const std::size_t positions = nodes_.chains[0].size() + nodes_.chains[1].size() - 2;
        std::size_t position = 0, broken = 0;
        for (const auto& chain : nodes_.chains) {
            for (std::size_t i = 1; i < chain.size(); ++i, ++position) {
                if (position * chain_breaks >= broken * positions) {
                    ++broken;
                    continue;
                }
                const double conductance = random_.magnitude(-2, 3);
                add(chain[i - 1], chain[i], -conductance);
                add(chain[i], chain[i - 1], -conductance);
            }
        }
    }

    /// Current into the drain: conductance (drain - source) + sum over gates of transconductance (gate - source).
    void place_transistors() {
        const std::vector<int> inputs = gates_of_transistors();
        for (int i = 0; i < transistors; ++i) {
            const auto [drain, source] = nodes_.transistors[static_cast<std::size_t>(i)];
            const std::int64_t nearby = std::int64_t{i} * (gates - 32) / transistors + random_.below(16);
            double total = 0;
            for (int input = 0; input < inputs[static_cast<std::size_t>(i)]; ++input) {
                const Node gate = nodes_.gates[static_cast<std::size_t>(nearby + 5 * input)];
                const double transconductance = random_.magnitude(-6, -2);
                add(drain, gate, transconductance);
                add(source, gate, -transconductance);
                total += transconductance;
            }
            add_controlled(drain, source, random_.magnitude(-8, -4), total);
        }
    }

    std::vector<int> gates_of_transistors() {
        constexpr int others = transistors - one_gate_transistors;
        constexpr int third_gates = gate_connections - one_gate_transistors - 2 * others;
        static_assert(0 <= third_gates && third_gates <= others);
        std::vector<int> inputs(one_gate_transistors, 1);
        inputs.insert(inputs.end(), static_cast<std::size_t>(others - third_gates), 2);
        inputs.insert(inputs.end(), static_cast<std::size_t>(third_gates), 3);
        random_.shuffle(inputs);
        return inputs;
    }

    /// Each diode node hangs on one chain, the first ones on both.
    void place_diodes() {
        static_assert(diode_nodes <= diodes() && diodes() <= 2 * diode_nodes);
        for (int i = 0; i < diodes(); ++i) {
            const int diode = i % diode_nodes;
            const Node anchor = at_fraction(nodes_.chains[static_cast<std::size_t>(i / diode_nodes)], diode, diode_nodes);
            const double excess = random_.magnitude(-8, -3);  // drawn one by one: compilers order arguments as they like
            add_controlled(nodes_.diodes[static_cast<std::size_t>(diode)], anchor, random_.magnitude(-5, 0), excess);
        }
    }

    void connect_nets() {
        std::vector<Node> loads = nodes_.wires;
        random_.shuffle(loads);
        for (int net = 0; net < nets; ++net) {
            for (int i = fan_out(net); i > 0; --i) {
                const double excess = random_.magnitude(-12, -7);
                add_controlled(loads.back(), nodes_.nets[static_cast<std::size_t>(net)], random_.magnitude(-12, -7), excess);
                loads.pop_back();
            }
        }
    }

    void place_sensors() {
        for (int i = 0; i < sensors; ++i)
            add(at_fraction(nodes_.wires, i, sensors), at_fraction(nodes_.gates, i, sensors), -random_.magnitude(-10, -5));
    }

    /// Nearly every node leaks weakly to rail A; the rail feels each of them much more: controlled sources, not resistors.
    void connect_rail_a() {
        constexpr int none = 0, weak = 1, gate = 2;
        std::vector<int> tie(size, weak);
        const auto set = [&](Node node, int kind) { tie[static_cast<std::size_t>(node)] = kind; };
        std::vector<Node> candidates = nodes_.wires;
        random_.shuffle(candidates);
        for (int i = 0; i < untied; ++i) set(candidates[static_cast<std::size_t>(i)], none);
        for (const Node node : nodes_.gates) set(node, gate);
        for (const Node node : nodes_.fixed) set(node, none);
        for (const Node node : nodes_.branches) set(node, none);
        set(rail_a, none);
        set(rail_b, none);
        for (Node node = 0; node < size; ++node) {
            const int kind = tie[static_cast<std::size_t>(node)];
            if (kind == none) continue;
            add(node, rail_a, -(kind == gate ? random_.magnitude(-8, 0) : random_.magnitude(-12, -7)));
            add(rail_a, node, -felt_by_rail_a());
        }
        for (std::size_t i = 0; i < fixed_seen_by_a; ++i) add(rail_a, nodes_.fixed[i], -felt_by_rail_a());
        add(rail_a, rail_b, -0.25);
    }

    /// With one bit more than the nodes' own entries have: never equal to the mirrored one.
    double felt_by_rail_a() { return random_.magnitude(-8, -4) + 0x1p-20; }

    /// Devices of one size have one conductance at one operating point: their roundings are alike and add up, as in dc2.
    /// The seed is chosen so that the sum in single precision from left to right loses as many digits as dc2's (-1.92).
    void connect_rail_b() {
        Random random(175);
        std::vector<double> sizes;
        for (int i = 0; i < device_sizes; ++i) {
            const double unit = random.magnitude(-8, 0);
            sizes.push_back(down_to_quantum(unit * static_cast<double>(1 + random.below(14))));
        }
        double missing = rail_b_diagonal - rail_b_excess;
        const auto connect = [&](Node node, double conductance) {
            add(rail_b, node, -conductance);
            missing -= conductance;
        };
        for (const auto& transistor : nodes_.transistors) {
            const double conductance = sizes[static_cast<std::size_t>(random.below(device_sizes))];
            for (const Node node : transistor) {
                connect(node, conductance);
                add(node, rail_b, -(random.magnitude(-12, -7) + 0x1p-24));  // never equal to the mirrored entry
            }
        }
        connect(rail_a, 0.5);
        // The last few make the sum what it is to be.
        std::size_t last = nodes_.fixed.size();
        connect(nodes_.fixed[--last], 97.96875);
        for (int left = fixed_seen_by_b - 1; left > 0; --left) connect(nodes_.fixed[--last], down_to_quantum(missing / left));
    }

    /// Kirchhoff's law: a row sums to the leak of its node to ground, rounded so that the diagonal is a float.
    void close_rows() {
        std::vector<bool> open(size, true);
        for (const Node branch : nodes_.branches) open[static_cast<std::size_t>(branch)] = false;
        for (Node node = 0; node < size; ++node) {
            if (!open[static_cast<std::size_t>(node)]) continue;
            double diagonal = random_.magnitude(-12, -8);
            for (const RowEntry& entry : rows_[static_cast<std::size_t>(node)]) diagonal -= entry.value;
            add(node, node, node == rail_b ? rail_b_diagonal : float_above(diagonal));
        }
    }

    /// The equation of a branch: the voltage at its node less one unit of resistance times its current is what it delivers.
    void place_sources() {
        for (std::size_t i = 0; i < nodes_.branches.size(); ++i) {
            const double sign = i == 1 ? -1 : 1;
            const Node branch = nodes_.branches[i];
            const Node node = i == 0 ? rail_a : i == 1 ? rail_b : at_fraction(nodes_.wires, static_cast<int>(i), sources);
            add(branch, node, sign);
            add(node, branch, sign);
            add(branch, branch, -sign);
        }
    }

    CsrMatrix<double> assemble() {
        CsrMatrix<double> matrix = empty_matrix(size, nonzeros);
        for (auto& row : rows_) append_row(matrix, row);
        return matrix;
    }

    Random random_{2};
    Nodes nodes_ = place_nodes(random_);
    std::vector<std::vector<RowEntry>> rows_{static_cast<std::size_t>(size)};
};

}  // namespace

CsrMatrix<double> dc2_like() { return Circuit().build(); }

}  // namespace solver::matrices
