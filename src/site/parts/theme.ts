import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Env } from '../../http/env.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';
import { type Theme, themes } from './view.ts';

const themeCookie = 'gapstone_theme';
const year = 365 * 24 * 3600;

/** The theme that a reader chose in this browser; by default that of the system. */
export function themeOf(c: Context<Env>): Theme {
  const chosen = getCookie(c, themeCookie);
  return themes.find((each) => each === chosen) ?? 'system';
}

/** Stores a theme in a cookie, with or without a session. */
export function keepTheme(c: Context<Env>, cookie: SessionCookie, theme: Theme): void {
  // Lax, so that the browser sends it with a link from another site too.
  const attributes = { ...cookie.attributes(c), sameSite: 'Lax' as const };
  setCookie(c, themeCookie, theme, { ...attributes, maxAge: theme === 'system' ? 0 : year });
}
