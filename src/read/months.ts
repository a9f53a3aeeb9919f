const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/** The number of a month by its English name in any case: 1 to 12, or 0 for no month. */
export function monthOf(name: string): number {
  return months.indexOf(name.toLowerCase()) + 1;
}

/** The same for a name that may be cut to three letters or `Sept`. */
export function monthOfShort(name: string): number {
  const short = name.toLowerCase() === 'sept' ? 'sep' : name.toLowerCase();
  const index = short.length === 3 ? months.findIndex((month) => month.startsWith(short)) : -1;
  return monthOf(name) || index + 1;
}
