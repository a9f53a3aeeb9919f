/** The seconds of a lifetime such as 30m, 8h or 90d; null for another text. */
export function lifetimeOf(text: string): number | null {
  const match = /^(\d{1,7})([smhd])$/.exec(text);
  return match && Number(match[1]) * { s: 1, m: 60, h: 3600, d: 86400 }[match[2] as 's' | 'm' | 'h' | 'd'];
}
