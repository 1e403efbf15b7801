/** A request as the JSON that goes over the wire: bytes as base64. */
export const requestJson = (request: object): string =>
  JSON.stringify(request, function (this: Record<string, unknown>, name, value: unknown) {
    // A Buffer was turned into its own JSON form before it gets here.
    const original = this[name];
    return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value;
  });
