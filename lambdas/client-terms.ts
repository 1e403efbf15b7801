// As those of the table: the SDK's own default is to wait as long as the socket does, which outlives the function.
export const clientTerms = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
};
