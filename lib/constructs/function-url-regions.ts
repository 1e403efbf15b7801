/** Regions without function URLs (https://docs.aws.amazon.com/lambda/latest/dg/lambda-urls.html). */
export const regionsWithoutFunctionUrls: ReadonlySet<string> = new Set([
  'ap-south-2',
  'ap-southeast-4',
  'ca-west-1',
  'eu-central-2',
  'eu-south-2',
  'il-central-1',
  'me-central-1',
]);
