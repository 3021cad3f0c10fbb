/** What the transactions of a world have written about each subject, and what its inbox has recorded. */
export interface InboxRecord {
  /** Records that the work of a subject tries a write. */
  tries(subject: string): void;
  /** Records a committed transaction. */
  committed(transaction: CommittedTransaction): void;
  /** Records that the inbox has taken a subject for another one, whose event it has. */
  takesFor(subject: string, other: string): void;
  /** Returns what is wrong with the writes of a subject, in words; undefined where they took effect exactly once. */
  problemOf(subject: string, isHandled: boolean): string | undefined;
}

export interface CommittedTransaction {
  subject: string;
  /** Whether the inbox has recorded the event of the subject in it. */
  isRecord: boolean;
  /** The names of its writes. */
  writes: readonly { what: string; isUnderInbox: boolean }[];
}

export function createInboxRecord(): InboxRecord {
  const transactions: CommittedTransaction[] = [];
  const tried = new Set<string>();
  const mistaken = new Map<string, string>();

  return {
    tries: (subject) => void tried.add(subject),
    committed: (transaction) => void transactions.push(transaction),
    takesFor: (subject, other) => void mistaken.set(subject, other),
    problemOf(subject, isHandled) {
      const other = mistaken.get(subject);
      if (other !== undefined) return `the inbox took it for ${other}`;
      const own = transactions.filter((one) => one.subject === subject);
      const records = own.filter(({ isRecord }) => isRecord);
      if (records.length === 0) return undefined;
      // Where the transaction of the record has no writes, those of the handler were meant.
      const isEmpty = records.every(({ writes }) => writes.length === 0);
      const effects = own.map(({ writes }) => writes.filter(({ isUnderInbox }) => isEmpty || isUnderInbox));
      const names = effects.map((writes) => new Set(writes.map(({ what }) => what)));
      const twice = [...new Set(names.flatMap((one) => [...one]))].find(
        (what) => names.filter((one) => one.has(what)).length > 1,
      );
      if (twice !== undefined) return `"${twice}" took effect more than once`;
      const isMissing = isEmpty && isHandled && tried.has(subject) && names.every(({ size }) => size === 0);
      return isMissing ? 'the inbox has it, and none of its writes took effect' : undefined;
    },
  };
}
