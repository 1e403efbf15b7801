import type { Construct } from 'constructs';
import { refuse } from './invalid-prop-error.js';

/**
 * What the constructs read of an entity made by `entity()`; importing one loads no SDK.
 */
export interface EntityShape {
  /** The entity's name. */
  readonly name: string;
}

const entityBrand = Symbol.for('safewrites.entity');

/** Which form of an entity is read here: that of the commands beside it. */
const protocol = 1;

/** The run-time side of an entity, as far as it is read here; its internal members go by their internal names. */
interface EntityData {
  readonly [entityBrand]?: number;
  readonly name: string;
  readonly pk: { readonly text_: string };
  readonly timeToLive_?: { readonly attribute_: { readonly traits_: { readonly savedAs_?: string } } };
}

/** By the mark that commands look for too: what is made by another version is refused, rather than read as if it had nothing. */
function dataOf(scope: Construct, entity: EntityShape): EntityData {
  const data = entity as EntityData | undefined;
  const version = data?.[entityBrand];
  if (version === protocol) return data!;
  return refuse(
    scope,
    'entities',
    version === undefined
      ? 'holds what is no entity made by entity()'
      : 'was made by another version of safewrites: install one version',
  );
}

/** What the partition keys of an entity begin with, as a pattern for `dynamodb:LeadingKeys`. */
export function leadingKeyOf(scope: Construct, entity: EntityShape): string {
  const { pk } = dataOf(scope, entity);
  const input = pk.text_.indexOf('{');
  if (input === -1) return pk.text_;
  if (input === 0) {
    return refuse(
      scope,
      'entities',
      `the keys of ${entity.name} begin with a value, so no prefix tells them: leave limitToLeadingKeys off`,
    );
  }
  return `${pk.text_.slice(0, input)}*`;
}

/** The time to live of an entity must be stored where the table looks for it. */
export function checkTimeToLive(scope: Construct, entity: EntityShape, timeToLiveAttribute: string): void {
  const stored = dataOf(scope, entity).timeToLive_?.attribute_.traits_.savedAs_;
  if (stored === undefined || stored === timeToLiveAttribute) return;
  refuse(
    scope,
    'entities',
    `${entity.name} stores its time to live in "${stored}", but the table looks for it in "${timeToLiveAttribute}": ` +
      "give SafeWritesTable that timeToLiveAttribute, or leave the entity's savedAs() out",
  );
}
