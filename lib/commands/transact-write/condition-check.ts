import type { AnyEntity } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { Condition, Cursor } from '../expressions/condition.js';
import * as Token from '../expressions/token.js';
import { bindingOf } from '../table/table.js';
import type { Step } from '../write/step.js';
import { WriteCommand, type BuiltWrite } from '../write/write-command.js';
import type { HasItem } from '../write/write-results.js';

/** A step of a transaction that writes nothing and only holds the others to a condition. It has no `send`. */
export interface ConditionCheck<E extends AnyEntity, F> extends Step<F> {
  /** Adds a condition; conditions join with AND, each in parentheses. */
  if(condition: Condition<E['name']>): ConditionCheck<E, F>;
  ifExists(): ConditionCheck<E, F>;
  ifNotExists(): ConditionCheck<E, F>;
  /** Only where this version is stored. */
  ifVersion(version: number): ConditionCheck<E, F>;
  /** Where the condition fails, `failed.<step>.item` is what it saw. */
  returnOldOnFailure(): ConditionCheck<E, HasItem<E['~item'] | undefined>>;
}

class ConditionCheckCommand extends WriteCommand {
  get kind_() {
    return 'ConditionCheck' as const;
  }
  protected get sdk_(): never {
    return invalid('conditionCheck', 'is a step of a transaction, and can not be sent alone');
  }

  protected override build_(at: Cursor): BuiltWrite {
    const built = this.buildByKey_(at);
    if (built.request_['ConditionExpression'] === undefined)
      invalid('conditionCheck', 'has no condition: say if(…), ifExists() or ifVersion(n)');
    return built;
  }
}

/**
 * A condition on an item that a transaction does not write. Cost in its transaction: two write units at least, as a
 * write of the item's size.
 *
 * @example
 * await transactWrite(shop, {
 *   open: conditionCheck(orders, key).if(Order.attrs.status.eq('OPEN')),
 *   bill: accounts.put({ id: 'alice', balance: 0 }),
 * });
 */
export const conditionCheck = <E extends AnyEntity>(
  entityTable: { readonly '~e': E },
  key: E['~key'],
): ConditionCheck<E, unknown> => {
  const binding = bindingOf(entityTable);
  const command = new ConditionCheckCommand(
    binding,
    binding.entity_.key_(key as Record<string, unknown>),
    binding.entity_.root_.step_(Token.Delete),
  );
  return command as unknown as ConditionCheck<E, unknown>;
};
