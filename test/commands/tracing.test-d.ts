import { context, trace, type Tracer } from '@opentelemetry/api';
import { expectTypeOf, test } from 'vitest';
import { traceWithOpenTelemetry } from '../../lib/commands/index.js';

declare const tracer: Tracer;

test('the bridge takes what OpenTelemetry has, without any of it', () => {
  expectTypeOf(traceWithOpenTelemetry({ tracer })).toEqualTypeOf<() => void>();
  expectTypeOf(traceWithOpenTelemetry({ tracer, context, trace })).toEqualTypeOf<() => void>();
  // @ts-expect-error -- no tracer
  traceWithOpenTelemetry({ context, trace });
});
