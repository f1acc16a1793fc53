import os

from hypothesis import HealthCheck, settings
from on_a_gpu import library as library  # a fixture

# No deadlines: the time of an example depends on what else the machine does. SAMEBITS_EXAMPLES asks for more of them.
settings.register_profile(
    "samebits",
    deadline=None,
    max_examples=int(os.environ.get("SAMEBITS_EXAMPLES", "200")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("samebits")
