/** What Lambda hands to a handler that has so many milliseconds left. */
export const contextOf = (leftMs) => ({
  getRemainingTimeInMillis: () => leftMs,
  functionName: 'bench',
  awsRequestId: 'r',
});
