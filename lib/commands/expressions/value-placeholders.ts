import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { placeholder } from './render.js';

const names = Array.from({ length: 128 }, (_, i) => placeholder(i));

/**
 * The values under their fixed placeholders. The small counts are written as literals: the engine then shares one
 * hidden class per count, where a loop of assignments costs a third of building the whole request.
 */
export const placeholders = (v: readonly AttributeValue[], count: number): AttributeMap | undefined => {
  const [a, b, c, d, e, f] = v as [
    AttributeValue,
    AttributeValue,
    AttributeValue,
    AttributeValue,
    AttributeValue,
    AttributeValue,
  ];
  switch (count) {
    case 0:
      return undefined;
    case 1:
      return { ':0': a };
    case 2:
      return { ':0': a, ':1': b };
    case 3:
      return { ':0': a, ':1': b, ':2': c };
    case 4:
      return { ':0': a, ':1': b, ':2': c, ':3': d };
    case 5:
      return { ':0': a, ':1': b, ':2': c, ':3': d, ':4': e };
    case 6:
      return { ':0': a, ':1': b, ':2': c, ':3': d, ':4': e, ':5': f };
    default: {
      const out: AttributeMap = {};
      for (let i = 0; i < count; i++) out[names[i] ?? placeholder(i)] = v[i] as AttributeValue;
      return out;
    }
  }
};
