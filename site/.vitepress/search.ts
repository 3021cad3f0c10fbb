// How the search splits text into words and ranks pages. VitePress sends these functions to the browser as their source
// text, so that each one uses nothing from outside itself.

/** Splits text into words. A name with inner punctuation, such as `generation.completed`, is also a word as a whole. */
export function termsOf(text: string): string[] {
  const plain = text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/&quot;/g, '"');
  const names = plain.match(/[\p{L}\p{N}]+(?:[._/:-][\p{L}\p{N}]+)+|sha256=/gu) ?? [];
  return [...plain.split(/[^\p{L}\p{N}]+/u), ...names].filter(Boolean);
}

/** Lower-cases a word, and drops those that every question has. */
export function withoutFillers(term: string): string | null {
  const word = term.toLowerCase();
  return /^(?:an?|the|is|are|do|does|did|i|my|it|its|how|what|which|why|where|can|to|in|of|for|with|and|or)$/.test(word)
    ? null
    : word;
}

/** A reader wants the page that has the word as its subject, and a guide before the measurements and the history. */
export function boostOf(id: string, term: string, page: { title?: string; titles?: string[] } = {}): number {
  const rank = /\/(?:evidence|changelog|contributing|contents)\.html/.test(id)
    ? 0.2
    : /\/(?:receiving|testing|events|troubleshooting|quickstart\/[\w-]+)\.html/.test(id)
      ? 1.25
      : 1;
  const isSubject = page.titles?.length === 0 && page.title?.toLowerCase().includes(term);
  return isSubject ? 1.6 * rank : rank;
}
