import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Env } from '../../http/env.ts';
import type { SessionCookie } from '../../http/session-api.ts';
import { type Density, densities, type Theme, themes } from './view.ts';

const themeCookie = 'gapstone_theme';
const densityCookie = 'gapstone_density';
const year = 365 * 24 * 3600;

/** The theme that a reader chose in this browser; by default that of the system. */
export function themeOf(c: Context<Env>): Theme {
  const chosen = getCookie(c, themeCookie);
  return themes.find((each) => each === chosen) ?? 'system';
}

/** How close the rows of tables stand, as chosen in this browser. */
export function densityOf(c: Context<Env>): Density {
  return getCookie(c, densityCookie) === 'comfortable' ? 'comfortable' : 'compact';
}

/** Stores a theme or a density in a cookie, with or without a session. The default needs none. */
export function keepLook(c: Context<Env>, cookie: SessionCookie, look: Theme | Density): void {
  const isDensity = densities.some((each) => each === look);
  const isDefault = look === 'system' || look === 'compact';
  // Lax, so that the browser sends it with a link from another site too.
  const attributes = { ...cookie.attributes(c), sameSite: 'Lax' as const };
  setCookie(c, isDensity ? densityCookie : themeCookie, look, {
    ...attributes,
    maxAge: isDefault ? 0 : year,
  });
}
