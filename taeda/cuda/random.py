"""The generators of CUDA devices, of which there are none."""

from taeda._main.absent_devices import get_rng_state_all, manual_seed, manual_seed_all, seed, seed_all
from taeda.cuda._absent import absent

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]

initial_seed = absent.initial_seed
get_rng_state = absent.get_rng_state
set_rng_state = absent.set_rng_state
set_rng_state_all = absent.set_rng_state_all
