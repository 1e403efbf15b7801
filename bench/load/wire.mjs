import { setTimeout as wait } from 'node:timers/promises';

/** Sockets of the SDK's own handler (https://docs.aws.amazon.com/sdk-for-javascript/v3/developer-guide/node-configuring-maxsockets.html). */
const sockets = 50;

/**
 * A request handler around another: each request takes `delayMs` more, by a real timer, and as many run at once as the
 * SDK's own handler has sockets; others wait. Counts requests, and the most that were asked for at once.
 */
export const wire = (requestHandler) => {
  let free = sockets;
  const waiting = [];
  const line = {
    delayMs: 0,
    requests: 0,
    inFlight: 0,
    mostInFlight: 0,
    reset() {
      line.requests = 0;
      line.mostInFlight = line.inFlight;
    },
    requestHandler: {
      metadata: requestHandler.metadata,
      destroy: () => requestHandler.destroy?.(),
      httpHandlerConfigs: () => requestHandler.httpHandlerConfigs(),
      updateHttpClientConfig: (key, value) => requestHandler.updateHttpClientConfig(key, value),
      async handle(request, options) {
        line.requests++;
        line.mostInFlight = Math.max(line.mostInFlight, ++line.inFlight);
        if (free > 0) free--;
        else await new Promise((resolve) => waiting.push(resolve));
        try {
          if (line.delayMs > 0) await wait(line.delayMs);
          return await requestHandler.handle(request, options);
        } finally {
          line.inFlight--;
          const next = waiting.shift();
          if (next === undefined) free++;
          else next();
        }
      },
    },
  };
  return line;
};
