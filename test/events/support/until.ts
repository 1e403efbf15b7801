/** A promise that a test settles itself. */
export const gate = (): { readonly opened: Promise<void>; readonly open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
};

/** Lets everything run that needs no timer. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
