import type {
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context,
  LambdaFunctionURLEvent,
} from 'aws-lambda';
import * as v from 'valibot';
import { expectTypeOf, test } from 'vitest';
import { table } from '../../lib/commands/index.js';
import { idempotent, problem, refuse, type HttpEvent, type HttpResult } from '../../lib/http/index.js';

const shop = table({ name: 'shop', client: undefined as never });

test('the body has the type of the schema', () => {
  idempotent({
    table: shop,
    schema: v.object({ a: v.number() }),
    handle: (body) => {
      expectTypeOf(body).toEqualTypeOf<{ a: number }>();
      return refuse(problem({ status: 400, detail: 'd' }));
    },
  });
});

test('without schema the body is unknown', () => {
  idempotent({
    table: shop,
    handle: (body) => {
      expectTypeOf(body).toBeUnknown();
      return refuse({ status: 200 });
    },
  });
});

test('a handler returns an effect', () => {
  // @ts-expect-error an answer alone is not stored
  idempotent({ table: shop, handle: () => ({ status: 200 }) });
});

test('the events, contexts and results of Lambda fit', () => {
  expectTypeOf<APIGatewayProxyEventV2>().toExtend<HttpEvent>();
  expectTypeOf<LambdaFunctionURLEvent>().toExtend<HttpEvent>();
  expectTypeOf<HttpResult>().toExtend<APIGatewayProxyStructuredResultV2>();
  const handler = idempotent({ table: shop, handle: () => refuse({ status: 200 }) });
  expectTypeOf(handler).toBeCallableWith(
    undefined as unknown as APIGatewayProxyEventV2,
    undefined as unknown as Context,
  );
});
