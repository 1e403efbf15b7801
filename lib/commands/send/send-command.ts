import { limitAttempts } from '../retry/max-attempts.js';
import type { TableModel } from '../table/table-model.js';
import { traced, type CommandTrace } from '../tracing/channel.js';
import { httpOptions, type SendOptions } from './send-options.js';

/** A call of the SDK: what is sent, and what becomes of it. */
export interface Call<O, R> {
  readonly table_: TableModel;
  /** The SDK's command. */
  readonly command_: { readonly middlewareStack: unknown };
  readonly attempts_: number | undefined;
  readonly trace_: Omit<CommandTrace, 'table'>;
  readonly options_: SendOptions | undefined;
  /** The result of the SDK's answer. */
  read_(output: O): R;
  /** Answers an error, or throws it. */
  failed_?(error: unknown, trace: CommandTrace): R;
}

/** Sends a command of the SDK, with its attempts limited, and traced until its answer is read. */
export const sendCommand = <O, R>(call: Call<O, R>): Promise<R> => {
  const { table_: table, command_: command, attempts_: attempts } = call;
  const { name_: name, client_: client } = table;
  const send = (): Promise<R> =>
    traced({ ...call.trace_, table: name }, async (trace) => {
      try {
        const output = (await client.send(command as never, httpOptions(call.options_))) as O;
        trace.outcome = 'ok';
        return call.read_(output);
      } catch (error) {
        if (call.failed_) return call.failed_(error, trace);
        throw error;
      }
    });
  return attempts === undefined ? send() : limitAttempts(client, command, attempts).then(send);
};
