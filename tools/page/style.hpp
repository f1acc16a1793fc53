#pragma once

/// How pages look: on wide and narrow screens, light and dark, and on paper.

#include <string_view>

namespace solver::page {

/// Colours differ in lightness too (after Okabe and Ito) and keep 4.5:1 against the ground where they carry text. Holds
/// neither & nor <, so that it is the same in HTML and in XML.
inline constexpr std::string_view style = R"(:root {
  color-scheme: light dark;
  --paper: #fffdf8; --ink: #1b1b19; --soft: #5e5c55; --rule: #dcd9cf; --faint: #bfbcb2;
  --claim: #0067a3; --truth: #b84a00; --bar: #b9d3e2; --good: #7fa8bf; --bad: #c8420b;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #161615; --ink: #e9e6de; --soft: #a9a59a; --rule: #383733; --faint: #605e57;
    --claim: #6db9ec; --truth: #f5a352; --bar: #27485c; --good: #4d84a3; --bad: #ff8a4c;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 76rem;
  font: 1.05rem/1.5 "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, serif;
}
h1 { font-size: 2.3rem; font-weight: 400; line-height: 1.15; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.45rem; font-weight: 400; font-style: italic; margin: 0 0 .6rem; }
h3 { font-size: 1.1rem; font-weight: 600; margin: 2rem 0 .3rem; overflow-wrap: anywhere; }
p { margin: 0 0 .8rem; max-width: 42rem; }
section { margin: 2.8rem 0 0; padding-top: 1rem; border-top: 1px solid var(--rule); }
.kicker { margin: 0 0 .4rem; }
.kicker, .lede, .note, .worst, figcaption { color: var(--soft); }
.lede { font-size: 1.15rem; }
.note, .worst, figcaption { font-size: .9rem; line-height: 1.4; }
b { font-weight: 600; color: var(--ink); }
.claim { color: var(--claim); }
.truth { color: var(--truth); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
code { font: .82em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
sup { font-size: .72em; line-height: 0; }

.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15.5rem, 100%), 1fr)); gap: 1.6rem 2rem; margin: 1.2rem 0; }
figure { margin: 0; max-width: 27rem; break-inside: avoid; }
figcaption { min-height: 4.2em; }
figure.numbers { max-width: none; }
figure.numbers figcaption { min-height: 0; margin-bottom: .4rem; max-width: 42rem; }
svg { display: block; width: 100%; height: auto; font: 11px/1 ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; }
svg text { fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .axis, svg .tolerance { stroke: var(--soft); stroke-width: .7; fill: none; }
svg .tolerance { stroke-dasharray: 3 3; }
svg .context { stroke: var(--faint); stroke-width: .8; fill: none; }
svg .line { stroke: var(--claim); stroke-width: 1.3; fill: none; stroke-linejoin: round; }
svg .dot { fill: var(--truth); stroke: var(--paper); stroke-width: .5; }

.scroll { overflow-x: auto; margin: 0 0 1.4rem; }
.scroll:focus-visible { outline: 2px solid var(--claim); outline-offset: 3px; }
table { border-collapse: collapse; font: .82rem/1.35 ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; }
th, td { padding: .22rem .7rem .22rem 0; text-align: left; vertical-align: baseline; white-space: nowrap; }
thead th, thead td { color: var(--soft); font-weight: 400; border-bottom: 1px solid var(--rule); vertical-align: bottom; }
tbody th { font-weight: 600; position: sticky; left: 0; background: var(--paper); padding-right: 1rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
.bar {
  min-width: 6rem; padding-bottom: .45rem;
  background: linear-gradient(var(--bar), var(--bar)) no-repeat left .1rem bottom .18rem / calc(var(--share) * (100% - .7rem)) 4px;
}
.ulps td, .ulps thead th { text-align: center; padding: .2rem .3rem; min-width: 3.1rem; }
.ulps td { vertical-align: bottom; font-variant-numeric: tabular-nums; padding-top: .5rem; }
.ulps tbody th { vertical-align: bottom; }
.ulps td i { display: block; height: var(--h); margin: 0 .15rem .1rem; background: var(--good); }
.ulps td.wrong i { background: var(--bad); }
.ulps .wrong { color: var(--bad); font-weight: 600; }
.ulps .none { color: var(--faint); }
.ulps .bar { min-width: 5rem; background-position: left .3rem bottom 1.6em; background-size: calc(var(--share) * (100% - .6rem)) 4px; }
.ulps tbody tr + tr > * { border-top: 1px solid var(--rule); }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .25rem 1.2rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.beside > figure { max-width: 100%; }
.tables { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 0 2.5rem; }
.tables > * { min-width: 0; }
.worst { flex: 1 1 15rem; max-width: 42rem; overflow-wrap: anywhere; list-style: none; margin: .1rem 0 1.4rem; padding: 0; }
.worst li + li { margin-top: .5rem; }

@media (max-width: 40rem) {
  body { font-size: 1rem; padding-top: 1.4rem; }
  h1 { font-size: 1.75rem; }
  figcaption { min-height: 0; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; }
}
@media print {
  @page { margin: 16mm 15mm; }
  :root { --paper: #fff; }
  html { font-size: 9.5pt; }
  body { padding: 0; max-width: none; }
  section { margin-top: 1.8rem; break-inside: auto; }
  h2, h3 { break-after: avoid; }
  .scroll, .beside { overflow: visible; break-inside: avoid; }
  .beside { display: block; }
  .panels { grid-template-columns: repeat(auto-fit, minmax(40mm, 1fr)); gap: 1rem; }
  .ulps td, .ulps thead th { min-width: 0; padding: .15rem .22rem; }
  .bar, .ulps td i { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)";

}  // namespace solver::page
