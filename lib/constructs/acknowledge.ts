import * as cdk from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/** What CDK versions with validation plugins have, and the oldest supported one has not. */
interface ValidationsApi {
  of(scope: IConstruct): { acknowledge(...rules: { readonly id: string; readonly reason: string }[]): void };
}

/** Tells rule packs such as cdk-nag why a rule doesn't apply to a construct. */
export function acknowledge(scope: IConstruct, reasons: Readonly<Record<string, string>>): void {
  const { Validations } = cdk as unknown as { readonly Validations?: ValidationsApi };
  Validations?.of(scope).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}
