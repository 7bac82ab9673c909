// Makes a component of each part that several operations have alike, and lets them refer to it.

type Part = Record<string, unknown>;
export type Components = Record<string, unknown>;

interface Use {
  part: Part;
  name: string;
  /** Puts something in place of the part. */
  replace: (by: Part) => void;
}

/**
 * Of different parts with one name, the one that is used most becomes a component; the others stay where they are. So
 * do references, and parts without a name.
 */
export function sharing(kind: string, uses: readonly Use[]): Components {
  const alike = new Map<string, Use[]>();
  for (const use of uses) {
    if (use.name === '' || '$ref' in use.part) continue;
    const key = JSON.stringify([use.name, use.part]);
    alike.set(key, [...(alike.get(key) ?? []), use]);
  }
  const components: Components = {};
  for (const group of [...alike.values()].sort((a, b) => b.length - a.length)) {
    const [first] = group;
    if (!first || group.length < 2 || first.name in components) continue;
    components[first.name] = first.part;
    for (const { replace } of group) replace({ $ref: `#/components/${kind}/${first.name}` });
  }
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The entries of an object or a list, each with what replaces it there. */
export function entriesOf(holder: unknown): { key: string; part: Part; replace: (by: Part) => void }[] {
  if (typeof holder !== 'object' || holder === null) return [];
  const entries = holder as Record<string, Part>;
  return Object.entries(entries).map(([key, part]) => ({
    key,
    part,
    replace(by) {
      entries[key] = by;
    },
  }));
}
