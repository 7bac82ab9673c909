// Why a scenario that misses its goal misses it; docs/performance.md shows the profile of each.

export const unexplained = 'not explained yet: run it with --profile, then say why here and in docs/performance.md';

/** By the name of the scenario. */
export const reasons: Record<string, string> = {};
