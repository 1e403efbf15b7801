/** Numbers that a seed decides. */
export interface SeededRandom {
  /** From 0 to less than 1. */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  /** True that often, of 1. */
  chance(probability: number): boolean;
  /** One of them. */
  pick<T>(values: readonly T[]): T;
  /** All of them, in another order. */
  shuffle<T>(values: readonly T[]): T[];
}

/** A number from 0 to less than 1 that depends on the seed and the name alone, not on what was drawn before. */
export function draw(seed: number, name: string): number {
  return hash(seed, name) / 2 ** 32;
}

/** Numbers of a stream of their own: what others draw does not change them. */
export function randomOf(seed: number, name: string): SeededRandom {
  let state = hash(seed, name);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    return mix(state) / 2 ** 32;
  };
  const integer = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (values) => values[integer(0, values.length - 1)] as never,
    shuffle(values) {
      const shuffled = [...values];
      for (let i = shuffled.length - 1; i > 0; i--) {
        const j = integer(0, i);
        [shuffled[i], shuffled[j]] = [shuffled[j] as never, shuffled[i] as never];
      }
      return shuffled;
    },
  };
}

/** FNV-1a over the name, and a mixer, so that names that differ in one digit give numbers that have nothing in common. */
export function hash(seed: number, name: string): number {
  let state = mix(seed) ^ 0x811c9dc5;
  for (let i = 0; i < name.length; i++) state = Math.imul(state ^ name.charCodeAt(i), 0x01000193);
  return mix(state);
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
