/** Messages after an action. The address has only a code: a page never shows a text from its address. */
const texts: Record<string, (count: number) => string> = {
  created: () => 'Created.',
  changed: () => 'Saved.',
  copied: () => 'Copied. Only you can see this copy.',
  'list-deleted': () => 'List deleted. You can restore it below for 30 days.',
  'collection-deleted': () => 'Collection deleted.',
  restored: () => 'List restored with all its STIGs.',
  added: (count) =>
    count === 0 ? 'Nothing added: it was already there.' : count === 1 ? 'Added.' : `${count} added.`,
  seen: () => 'Marked as read. Only later releases are new to you.',
  'hosts-kept': (count) => `${count} ${count === 1 ? 'host is' : 'hosts are'} saved with the list.`,
  'hosts-decoded': (count) =>
    `${count} ${count === 1 ? 'host is' : 'hosts are'} saved with the list. The file is not UTF-8: it was read as windows-1252.`,
  removed: (count) => (count === 1 ? 'Removed.' : `${count} removed.`),
  favorite: () => 'Added to favorites.',
  unfavorite: () => 'Removed from favorites.',
  'signed-in': () => 'You are signed in.',
  'token-revoked': () => 'Token revoked.',
  'signed-out': () => 'You are signed out.',
};

/** The message for a code and a count; null for an unknown code. */
export function notices(code: string | undefined, count: string | undefined): string | null {
  const text = code !== undefined && Object.hasOwn(texts, code) ? texts[code] : undefined;
  return text?.(/^\d{1,6}$/.test(count ?? '') ? Number(count) : 1) ?? null;
}
