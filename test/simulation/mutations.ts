/** A bug to plant: a text of the kit's own code that another one replaces. */
export interface Mutation {
  /** What the code then does. */
  readonly bug: string;
  readonly file: string;
  /** Stands in the file once. */
  readonly find: string;
  readonly replace: string;
  readonly workload: string;
  /** The most seeds it takes to find. */
  readonly seeds?: number;
}

const idempotency = 'lib/recipes/idempotency';
const locking = 'lib/recipes/locking/read-modify-write.ts';
const claims = 'lib/recipes/claims';
const ordered = 'lib/recipes/ordered-state';
const outbox = 'lib/recipes/outbox';
const lock = 'lib/recipes/lock';

/** Bugs of the kind that the promises are about. Each must be found. */
export const mutations: readonly Mutation[] = [
  {
    bug: 'the idempotency record is written without its condition',
    file: `${idempotency}/idempotent-transaction.ts`,
    find: 'return put.if(claimable(now)).returnOldOnFailure();',
    replace: 'return put.returnOldOnFailure();',
    workload: 'charges',
  },
  {
    bug: 'the key is free only where the record is absent, not where it has expired',
    file: `${idempotency}/record.ts`,
    find: 'IdempotencyRecord.attrs.key.notExists().or(IdempotencyRecord.attrs.expiresAt.le(second(now)));',
    replace: 'IdempotencyRecord.attrs.key.notExists();',
    workload: 'charges',
  },
  {
    bug: 'the fingerprint is not compared',
    file: `${idempotency}/record.ts`,
    find: 'found.algorithm === algorithm && found.fingerprint !== hash',
    replace: 'found.algorithm === algorithm && hash === undefined',
    workload: 'charges',
  },
  {
    bug: 'a refusal is answered and not stored',
    file: `${idempotency}/idempotent-transaction.ts`,
    find: 'return this.storeRefusal(this.claim(kept, now), kept);',
    replace: "return { outcome: 'refused', answer: kept, replayed: false };",
    workload: 'charges',
  },
  {
    bug: 'the answer of the repeat is given instead of the first one',
    file: `${idempotency}/idempotent-transaction.ts`,
    find: "if (record?.reason === 'ConditionalCheckFailed') return this.met(record.item as IdempotencyRecord | undefined);",
    replace:
      "if (record?.reason === 'ConditionalCheckFailed') return { outcome: 'committed', answer, replayed: false };",
    workload: 'charges',
  },
  {
    bug: 'a refusal that lost to another call is answered',
    file: `${idempotency}/idempotent-transaction.ts`,
    find: "return result.conditionMet ? { outcome: 'refused', answer, replayed: false } : this.met(result.item);",
    replace: "return { outcome: 'refused', answer, replayed: false };",
    workload: 'charges',
    seeds: 400,
  },
  {
    bug: 'a lease is taken over before it ends',
    file: `${idempotency}/lease-record.ts`,
    find: 'until !== undefined && until > now;',
    replace: 'until !== undefined && until > now && now.getTime() < 0;',
    workload: 'leases',
  },
  {
    bug: 'the key for the provider is of the call, and not of what is repeated',
    file: `${idempotency}/lease.ts`,
    find: 'providerKey: providerKeyOf(this.record.key, point)',
    replace: 'providerKey: providerKeyOf(this.terms.owner, point)',
    workload: 'leases',
  },
  {
    bug: 'an effect without a key begins before it is marked',
    file: `${idempotency}/lease.ts`,
    find: 'await this.write({ pending: point }, signal);',
    replace: '',
    workload: 'leases',
  },
  {
    bug: 'an effect that may have happened is done again by whoever takes over',
    file: `${idempotency}/idempotent-lease.ts`,
    find: "return unknown && { outcome: 'unknown', replayed: false, unknown };",
    replace: 'return undefined;',
    workload: 'leases',
  },
  {
    bug: 'an effect is done again after its provider has forgotten the key',
    file: `${idempotency}/lease.ts`,
    find: 'if (!known) {',
    replace: 'if (!known && keySeconds < 0) {',
    workload: 'leases',
    seeds: 1_000,
  },
  {
    bug: 'an answer is stored in place of a lease that another call has',
    file: `${idempotency}/lease.ts`,
    find: 'return put.if(isOwn(owner, this.token)).returnOldOnFailure();',
    replace: 'return put.returnOldOnFailure();',
    workload: 'leases',
    seeds: 600,
  },
  {
    bug: 'the token of a lease does not grow when it is taken over',
    file: `${idempotency}/idempotent-lease.ts`,
    find: 'const token = Math.max(now.getTime(), ended.token + 1);',
    replace: 'const { token } = ended;',
    workload: 'leases',
  },
  {
    bug: 'a put does not check the version that was read',
    file: 'lib/commands/put/put.ts',
    find: 'if (ignored !== true) {',
    replace: 'if (false as boolean) {',
    workload: 'balances',
  },
  {
    bug: 'an update does not check the version that was read',
    file: 'lib/commands/expressions/render.ts',
    find: "if (token !== Token.IgnoreVersion) conditions.push(form(version, '@ = ?'));",
    replace: "if (token !== Token.IgnoreVersion) conditions.push(form(version, '(@ = ? OR attribute_exists(@))'));",
    workload: 'balances',
  },
  {
    bug: 'the version does not move under ignoreVersion',
    file: 'lib/commands/update/update.ts',
    find: "at.values_.push({ N: '0' }, { N: '1' });",
    replace: "at.values_.push({ N: '0' }, { N: '-0' });",
    workload: 'balances',
  },
  {
    bug: 'a run after a conflict does not read again',
    file: locking,
    find: 'run.run === 1 && first !== undefined ? first',
    replace: 'first !== undefined ? first',
    workload: 'balances',
  },
  {
    bug: 'a read-modify-write is sent without a transaction, so that its repeat is another write',
    file: locking,
    find: 'const write = repeatable === true ? command',
    replace: 'const write = repeatable !== false ? command',
    workload: 'balances',
  },
  {
    bug: 'a transaction is made anew though an attempt of the one before may yet take effect',
    file: 'lib/commands/transact-write/transact-write.ts',
    find: 'if (!this.open_ || !passes) throw error;',
    replace: 'throw error;',
    workload: 'balances',
  },
  {
    bug: 'each attempt has a request token of its own',
    file: 'lib/commands/transact-write/transact-write.ts',
    find: 'command_: new TransactWriteItemsCommand(this.request),',
    replace: `command_: ((command: TransactWriteItemsCommand) => {
      command.middlewareStack.add(
        ((next: (args: { request: { body: string } }) => unknown) => (args: { request: { body: string } }) =>
          next({ ...args, request: Object.assign(Object.create(Object.getPrototypeOf(args.request)), args.request, {
            body: args.request.body.replace(/"ClientRequestToken":"[^"]+"/, '"ClientRequestToken":"' + randomUUID() + '"') }) })) as never,
        { step: 'finalizeRequest', priority: 'low' },
      );
      return command;
    })(new TransactWriteItemsCommand(this.request)),`,
    workload: 'balances',
  },
  {
    bug: 'a conflict that was not overcome counts as done',
    file: 'lib/commands/retry/retry-on-conflict.ts',
    find: 'if (run >= maxAttempts || !isConflict(error, on)) throw error;',
    replace: 'if (!isConflict(error, on)) throw error;\n      if (run >= maxAttempts) return undefined as R;',
    workload: 'balances',
    seeds: 400,
  },
  {
    bug: 'a claim is taken from its owner',
    file: `${claims}/claim.ts`,
    find: 'table.put(itemOf(value, by)).if(isFreeFor(by)).returnOldOnFailure();',
    replace: 'table.put(itemOf(value, by)).returnOldOnFailure();',
    workload: 'claims',
  },
  {
    bug: 'a change releases a claim without looking whose it is',
    file: `${claims}/claim.ts`,
    find: 'table.delete(keyOf(value, by)).if(owner.eq(by)).returnOldOnFailure();',
    replace: 'table.delete(keyOf(value, by)).if(owner.exists()).returnOldOnFailure();',
    workload: 'claims',
    seeds: 600,
  },
  {
    bug: 'a record is removed though its values have changed since',
    file: `${claims}/claimed-records.ts`,
    find: 'deletion = deletion.if(value === undefined ? attribute.notExists() : attribute.eq(value));',
    replace: 'deletion = deletion.if(value === undefined ? attribute.notExists() : attribute.exists());',
    workload: 'claims',
  },
  {
    bug: 'the old value of a change is not released',
    file: `${claims}/claimed-records.ts`,
    find: "if (from !== undefined) steps['old'] = release(claim, from, by);",
    replace: '',
    workload: 'claims',
  },
  {
    bug: 'a change of spelling does not look whether the value is still the one',
    file: `${claims}/claimed-records.ts`,
    find: 'update.set(attribute, to).if(attribute.eq(from)).returnOldOnFailure()',
    replace: 'update.set(attribute, to).if(attribute.exists()).returnOldOnFailure()',
    workload: 'claims',
    seeds: 600,
  },
  {
    bug: 'an event of an equal version is applied again (Le for Lt)',
    file: `${ordered}/groups-writes.ts`,
    find: 'update = update.set(values).if(group.version.attr.notExistsOrLt(version));',
    replace: 'update = update.set(values).if(group.version.attr.notExistsOrLe(version));',
    workload: 'ingest',
  },
  {
    bug: 'a group is not compared with its own version',
    file: `${ordered}/groups-writes.ts`,
    find: 'update = update.set(values).if(group.version.attr.notExistsOrLt(version));',
    replace: 'update = update.set(values);',
    workload: 'ingest',
  },
  {
    bug: 'an older event brings a deleted item back',
    file: `${ordered}/groups-writes.ts`,
    find: 'update = update.if(deletion.revives ? attr.notExistsOrLt(version) : attr.notExists());',
    replace: '',
    workload: 'ingest',
  },
  {
    bug: 'a deletion clears newer groups',
    file: `${ordered}/groups-writes.ts`,
    find: 'if (revives) update = update.if(newer ? attr.gt(value) : attr.notExistsOrLt(value));',
    replace: '',
    workload: 'ingest',
  },
  {
    bug: 'a whole item is put over a newer one',
    file: `${ordered}/whole-state.ts`,
    find: 'const newer = this.version.attr.notExistsOrLt(value);',
    replace: 'const newer = this.version.attr.notExists().or(this.version.attr.exists());',
    workload: 'ingest',
  },
  {
    bug: 'a write that failed acknowledges the events that it stood for',
    file: 'lib/events/ingest/settle-key.ts',
    find: "for (const candidate of pending) end(candidate, { kind: 'failed', error });",
    replace:
      "for (const candidate of pending) end(candidate, candidate === winner ? { kind: 'settled', outcome: 'Applied' } : { kind: 'failed', error });",
    workload: 'ingest',
  },
  {
    bug: 'an id that was counted is counted again',
    file: 'lib/recipes/counters/windowed-counter.ts',
    find: '.contains(id)\n      .negate()',
    replace: '.contains(id)\n      .negate()\n      .or(seen.exists())',
    workload: 'counters',
  },
  {
    bug: 'a plain add is repeated by the client',
    file: 'lib/recipes/counters/increment.ts',
    find: '.add(attribute, amount).maxAttempts(1)',
    replace: '.add(attribute, amount)',
    workload: 'counters',
    seeds: 400,
  },
  {
    bug: 'an add to a shard is repeated by the client',
    file: 'lib/recipes/counters/sharded-counter.ts',
    find: '      .maxAttempts(1)\n',
    replace: '',
    workload: 'counters',
    seeds: 400,
  },
  {
    bug: 'a block ends with the first number of the next one',
    file: 'lib/recipes/hi-lo/hi-lo.ts',
    find: 'this.blocks.push({ next, left: this.blockSize });',
    replace: 'this.blocks.push({ next, left: this.blockSize + 1 });',
    workload: 'numbers',
  },
  {
    bug: 'the next number is taken without looking at the last one',
    file: 'lib/recipes/gapless/gapless-sequence.ts',
    find: 'last.eq(number - 1).and(',
    replace: 'last.exists().and(',
    workload: 'numbers',
  },
  {
    bug: 'a numbered record is written over the one that is there',
    file: 'lib/recipes/gapless/gapless-sequence.ts',
    find: 'return records.unique({ ...made, [member]: number }).returnOldOnFailure();',
    replace:
      'return (records as unknown as { put(item: unknown): ReturnType<typeof records.unique> }).put({ ...made, [member]: number }).returnOldOnFailure();',
    workload: 'numbers',
  },
  {
    bug: 'events are deleted before they are published',
    file: `${outbox}/drain-lane.ts`,
    find: 'const { accepted, failure } = await sendLeading(',
    replace:
      'for (const { item, isLast } of entries.slice(next)) if (isLast) this.remove(item);\n      const { accepted, failure } = await sendLeading(',
    workload: 'events',
  },
  {
    bug: 'what was accepted need not be a leading part',
    file: `${outbox}/batches.ts`,
    find: 'settle({ accepted: failed < 0 ? events.length : failed, failure: own[failed] });',
    replace: 'settle({ accepted: own.filter((failure) => failure === undefined).length, failure: own[failed] });',
    workload: 'events',
    seeds: 800,
  },
  {
    bug: 'events of one aggregate go together to a target that keeps no order',
    file: `${outbox}/batches.ts`,
    find: 'const most = this.publisher.keepsOrder === true ? this.maximumEvents : 1;',
    replace: 'const most = this.maximumEvents;',
    workload: 'events',
  },
  {
    bug: 'events are published from the newest to the oldest',
    file: `${outbox}/waiting-items.ts`,
    find: '.le({ sequence: upTo })',
    replace: '.le({ sequence: upTo })\n      .reverse()',
    workload: 'events',
    seeds: 400,
  },
  {
    bug: 'of aggregates that are read together, one gets the events of another',
    file: `${outbox}/shared-reads.ts`,
    find: 'const of = byName.get(item.aggregate);',
    replace: 'const of = byName.get(item.aggregate) && seen.at(-1)?.of;',
    workload: 'events',
  },
  {
    bug: 'an item is removed though an event of it failed',
    file: `${outbox}/drain-lane.ts`,
    find: 'for (const { item, isLast } of entries.slice(next, next + accepted)) if (isLast) this.remove(item);',
    replace: 'for (const { item } of entries.slice(next, next + accepted)) this.remove(item);',
    workload: 'events',
    seeds: 400,
  },
  {
    bug: 'the event replaces one of the same number that was not sent yet',
    file: `${outbox}/outbox.ts`,
    find: 'return items.put(item).ifNotExists();',
    replace: 'return items.put({ ...item, sequence: Math.min(item.sequence, 1) });',
    workload: 'events',
  },
  {
    bug: 'an answer of a newer format is given as if it were this one',
    file: `${idempotency}/record.ts`,
    find: 'format === answered ? { status, headers, body }',
    replace: 'format !== inProgressFormat ? { status, headers, body }',
    workload: 'formats',
  },
  {
    bug: 'an inbox record of a newer format counts as handled, whatever it means',
    file: 'lib/messaging/inbox/inbox-record.ts',
    find: 'if (format > inboxFormat)',
    replace: 'if (format > inboxFormat + 1)',
    workload: 'formats',
  },
  {
    bug: 'events of a newer format are published, and removed',
    file: `${outbox}/drain-lane.ts`,
    find: 'parkedAt !== undefined || format > outboxFormat',
    replace: 'parkedAt !== undefined || format > outboxFormat + 1',
    workload: 'formats',
  },
  {
    bug: 'a lock of a newer format is taken',
    file: `${lock}/locks.ts`,
    find: 'format.le(lockFormat).and(token',
    replace: '(token',
    workload: 'formats',
  },
  {
    bug: 'an answer is stored under other names, in the same format',
    file: `${idempotency}/record.ts`,
    find: 'body: string().optional(),',
    replace: "body: string().optional().savedAs('answer'),",
    workload: 'formats',
  },
  {
    bug: 'the inbox takes a message that was handled',
    file: 'lib/messaging/handler/unit-of-message.ts',
    find: 'put(record).if(unhandled(now)).returnOldOnFailure(),',
    replace: 'put(record).returnOldOnFailure(),',
    workload: 'messages',
  },
  {
    bug: 'a message is forgotten only where its record is deleted',
    file: 'lib/messaging/inbox/inbox-record.ts',
    find: 'InboxRecord.attrs.key.notExists().or(InboxRecord.attrs.expiresAt.le(second(now)));',
    replace: 'InboxRecord.attrs.key.notExists();',
    workload: 'messages',
  },
  {
    bug: 'a message whose record was in the way of another transaction counts as handled',
    file: 'lib/messaging/handler/delivery.ts',
    find: "if (inbox?.reason === 'ConditionalCheckFailed') return",
    replace: 'if (inbox !== undefined) return',
    workload: 'messages',
  },
  {
    bug: 'a saga is stored whatever its revision is by now',
    file: 'lib/messaging/saga/saga.ts',
    find: 'return update.ifVersion(revision as number);',
    replace: 'return update.ignoreVersion();',
    workload: 'messages',
  },
  {
    bug: 'a saga that two messages start is started twice',
    file: 'lib/messaging/saga/saga.ts',
    find: 'return table.put({ ...saga.state, ...record, correlation, revision: revision ?? 0 });',
    replace: 'return table.put({ ...saga.state, ...record, correlation, revision: revision ?? 0 }).ignoreVersion();',
    workload: 'messages',
  },
  {
    bug: 'a lost race acknowledges the message',
    file: 'lib/messaging/handler/delivery.ts',
    find: 'failed = ending.lost;',
    replace: "return { outcome: 'handled', attempts: attempt };",
    workload: 'messages',
  },
  {
    bug: 'the fencing token does not grow',
    file: `${lock}/locks.ts`,
    find: '.add(attrs.token, 1)',
    replace: '.setIfNotExists(attrs.token, 1)',
    workload: 'locks',
  },
  {
    bug: 'isHeld passes with the token of an earlier holder',
    file: `${lock}/lock.ts`,
    find: 'return conditionCheck(this.terms.items, { name: this.name }).if(this.isOwn());',
    replace:
      'return conditionCheck(this.terms.items, { name: this.name }).if(this.terms.entity.attrs.token.ge(this.token));',
    workload: 'locks',
    seeds: 400,
  },
  {
    bug: 'a lock is taken before its lease ends',
    file: `${lock}/locks.ts`,
    find: 'heldUntil.lt(new Date(now - this.skewMs))',
    replace: 'heldUntil.lt(new Date(now + this.skewMs))',
    workload: 'locks',
    seeds: 400,
  },
  {
    bug: 'a release gives back the lock of the next holder',
    file: `${lock}/lock.ts`,
    find: '.remove(owner, heldUntil)\n          .if(this.isOwn())',
    replace: '.remove(owner, heldUntil)\n          .if(owner.exists())',
    workload: 'locks',
    seeds: 400,
  },
  {
    bug: 'the lease counts from its answer, not from when it was asked for',
    file: `${lock}/locks.ts`,
    find: 'const endsAt = askedAt + heldUntil.getTime() - now;',
    replace: 'const endsAt = performance.now() + heldUntil.getTime() - now;',
    workload: 'locks',
    seeds: 400,
  },
];
