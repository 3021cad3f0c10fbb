/** Returns the rows that the user can see: groups, letters and jobs, without those in closed details. */
export function visibleRows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-row]')].filter((row) => row.checkVisibility());
}

/** Returns the row of a letter or job, where it can be seen. */
export function rowOf(handle: number): HTMLElement | undefined {
  return visibleRows().find((row) => row.dataset['row'] === String(handle));
}
