/** A payment provider: with keys, a second request of one is answered as the first, and charges nothing. */
export class FakeProvider {
  /** What was charged, by the reference that came with it. */
  readonly charges: { readonly id: string; readonly key: string; readonly payment: string }[] = [];
  private readonly answers = new Map<string, string>();

  constructor(readonly takesKeys: boolean) {}

  charge(payment: string, key: string): string {
    const known = this.takesKeys ? this.answers.get(key) : undefined;
    if (known !== undefined) return known;
    const id = `charge-${this.charges.length}`;
    this.charges.push({ id, key, payment });
    this.answers.set(key, id);
    return id;
  }

  chargesOf(payment: string): readonly string[] {
    return this.charges.filter((charge) => charge.payment === payment).map(({ id }) => id);
  }

  /** Forgets its keys, as providers do after a time. */
  forget(): void {
    this.answers.clear();
  }
}
