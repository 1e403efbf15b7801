import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, Step, Table } from '../../commands/index.js';
import { itemSize } from '../../commands/index.js';
import { isStep, stepSymbol, type StepParts } from '../../commands/write/step.js';
import { rawKind, rawParts, tableNameOf } from './raw-operation.js';
import { bytesIdentity, numberIdentity } from './raw-values.js';

/** A write of a transaction, rendered. */
export interface Operation {
  readonly name: string;
  readonly parts: StepParts;
}

/** The step that a rendered operation is again. */
export const stepOf = (parts: StepParts): Step<unknown> => ({ [stepSymbol]: () => parts }) as unknown as Step<unknown>;

/** What a write puts, or an update at least writes, in bytes; its key counts too. */
export const bytesOf = ({ kind_: kind, written_: written, key_: key }: StepParts): number =>
  kind === 'Put' ? itemSize(written) : itemSize(key) + (kind === 'Update' ? itemSize(written) : 0);

/** Tells an item from all others. */
export const itemId = ({ request_: request, key_: key }: Pick<StepParts, 'request_' | 'key_'>): string =>
  JSON.stringify([
    tableNameOf(request.TableName),
    Object.keys(key)
      .sort()
      .map((name) => {
        const { S, N, B } = key[name] as AttributeValue;
        return [name, S, N && numberIdentity(N), B && bytesIdentity(B)];
      }),
  ]);

/** Renders what a handler adds: a command of the library, or an item of the SDK's TransactWriteItems. */
export const partsOf = (added: unknown, name: string, tables: readonly Table[]): StepParts =>
  isStep(added) ? added[stepSymbol]() : rawParts(added as TransactWriteItem, name, tables);

/** A default name, by kind and place. */
export const nameFor = (added: unknown, place: number): string => {
  const command = added as
    { kind_?: unknown; binding_?: { entity_?: { model_?: { name?: unknown } } } } | null | undefined;
  const kind = isStep(added) ? command?.kind_ : rawKind(added);
  const entity = command?.binding_?.entity_?.model_?.name;
  return `${typeof kind === 'string' ? kind : 'operation'} ${place}${typeof entity === 'string' ? ` of ${entity}` : ''}`;
};
