/**
 * Opens a subscription whose listener is not called after its end, when a message may still be on its way. Resolves to the
 * function that ends it, and to undefined where `open` does.
 */
export async function untilEnded(
  received: (text: string) => void,
  open: (receive: (text: string) => void) => Promise<(() => void) | undefined>,
): Promise<(() => void) | undefined> {
  let isOver = false;
  const end = await open((text) => {
    if (!isOver) received(text);
  });
  return (
    end &&
    (() => {
      isOver = true;
      end();
    })
  );
}
