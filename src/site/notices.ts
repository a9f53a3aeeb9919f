/** What a page says was just done, by the code in its address: no text of a request is ever shown. */
const texts: Record<string, (count: number) => string> = {
  created: () => 'It is made.',
  changed: () => 'The change is kept.',
  copied: () => 'This is your private copy.',
  'list-deleted': () => 'The list is deleted. For 30 days it can be restored below.',
  'collection-deleted': () => 'The collection is deleted.',
  restored: () => 'The list is back, with all its STIGs.',
  added: (count) => (count === 0 ? 'It was there already.' : count === 1 ? 'Added.' : `${count} added.`),
  removed: (count) => (count === 1 ? 'Taken out.' : `${count} taken out.`),
  favorite: () => 'It is among your favorites.',
  unfavorite: () => 'It is no favorite any more.',
  'signed-in': () => 'You are signed in. The session ends after 15 idle minutes.',
  'signed-out': () => 'You are signed out.',
};

/** The words of a code and a count, or null for none that is known. */
export function notices(code: string | undefined, count: string | undefined): string | null {
  const text = code !== undefined && Object.hasOwn(texts, code) ? texts[code] : undefined;
  return text?.(/^\d{1,6}$/.test(count ?? '') ? Number(count) : 1) ?? null;
}
