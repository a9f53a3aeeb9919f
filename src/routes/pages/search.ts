import type { Context, Hono } from 'hono';
import type { User } from '../../auth/viewer.ts';
import type { Env } from '../../env.ts';
import { AppError } from '../../errors.ts';
import { requestText } from '../../schemas/common.ts';
import { searchQuery } from '../../schemas/search.ts';
import type { ControlService, ShownFramework } from '../../services/controls.ts';
import type { RegdocService } from '../../services/regdoc.ts';
import type { RoleService } from '../../services/roles.ts';
import type { SearchService } from '../../services/search.ts';
import type { StigService } from '../../services/stigs.ts';
import { controlHref, frameworkName } from '../../web/frameworks.ts';
import { link, path } from '../../web/parts.tsx';
import { type FoundKind, type SearchPage, searchPage } from '../../web/search.tsx';
import { check, type Kit, readQuery } from './kit.ts';

export interface SearchPageServices {
  search: SearchService;
  stigs: StigService;
  controls: ControlService;
  roles: RoleService;
  documents: RegdocService;
}

/** How many of each kind are shown above the rules. */
const few = { page: 1, limit: 5 };
const word = requestText('q', 200);

/** The one search: STIGs, controls, CCIs, roles and documents by name, rules by all their texts. */
export function searchPages(app: Hono<Env>, { guard, show }: Kit, services: SearchPageServices): void {
  app.get('/search', guard.visitor, (c) => {
    const page = answer(c, services);
    return show(c, searchPage(page), page.problem === null ? 200 : 400);
  });
}

function answer(c: Context<Env>, services: SearchPageServices): SearchPage {
  const q = (c.req.query('q') ?? '').trim();
  const nothing = { q: '', filter: { severity: [], stig: '' }, kinds: [], rules: null, problem: null };
  if (q === '') return nothing;
  try {
    check(word, q);
    const user = c.get('visitor');
    const query = readQuery(c, searchQuery);
    const filter = { severity: [...(query.severity ?? [])], stig: query.stig ?? '' };
    const rules = user === null ? null : services.search.search(query);
    // Who narrows the rules, or turns their pages, is past the rest.
    const alone = filter.stig !== '' || filter.severity.length > 0 || query.page > 1;
    return { q, filter, kinds: alone ? [] : byName(plain(q), user, services), rules, problem: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
    return { ...nothing, problem: error.message };
  }
}

/** The words of a question without its quotation marks and stars, which names do not have. */
function plain(q: string): string {
  return q
    .replace(/["“”*]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function byName(q: string, user: User | null, services: SearchPageServices): FoundKind[] {
  if (q === '') return [];
  const { stigs, controls, roles, documents } = services;
  const kinds: FoundKind[] = [];
  if (user !== null) {
    const { stigs: found, pagination } = stigs.list({ search: q, ...few });
    kinds.push({
      name: 'STIGs',
      isFirst: true,
      total: pagination.total,
      items: found.map((each) => ({
        href: path('stigs', each.slug),
        label: each.title,
        about: each.version,
      })),
      all: link('/stigs', { search: q }),
    });
  }
  for (const framework of ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'] as const)
    kinds.push(controlsOf(framework, q, controls));
  if (user?.entitlements.has('occ')) {
    const { roles: found, pagination } = roles.list({ search: q, ...few });
    kinds.push({
      name: 'Roles',
      isFirst: false,
      total: pagination.total,
      items: found.map((each) => ({
        href: path('roles', each.occupationCode),
        label: each.title,
        about: each.occupationCode,
      })),
      all: link('/roles', { search: q }),
    });
  }
  if (user?.entitlements.has('regdoc')) {
    const { documents: found, pagination } = documents.list({ search: q, ...few });
    kinds.push({
      name: 'Documents',
      isFirst: false,
      total: pagination.total,
      items: found.map((each) => ({
        href: path('documents', each.documentId),
        label: each.title,
        about: each.publisher,
      })),
      all: link('/documents', { search: q }),
    });
  }
  return kinds;
}

interface NamedControl {
  identifier: string;
  title?: string;
  statement: string;
}

/** The controls that are called so, the one with this very identifier first, in whatever spelling. */
function controlsOf(framework: ShownFramework, q: string, controls: ControlService): FoundKind {
  const list = JSON.parse(controls.list(framework, { search: q, words: [], ...few })) as {
    total: number;
    controls: NamedControl[];
  };
  const exact = namedExactly(framework, q, controls);
  const others = list.controls.filter((each) => each.identifier !== exact?.identifier);
  const shown = exact === null ? others : [exact, ...others];
  return {
    name: framework === 'cci' ? 'CCIs' : `Controls of ${frameworkName(framework)}`,
    isFirst: exact !== null,
    total: Math.max(list.total, shown.length),
    items: shown.slice(0, few.limit).map(({ identifier, title, statement }) => ({
      href: controlHref(framework, identifier)!,
      label: title ? `${identifier} ${title}` : identifier,
      about: title ? '' : statement.slice(0, 160),
    })),
    all: link(framework === 'cci' ? '/ccis' : path('controls', framework), { search: q }),
  };
}

function namedExactly(framework: ShownFramework, q: string, controls: ControlService): NamedControl | null {
  try {
    return JSON.parse(controls.record(framework, q, undefined)) as NamedControl;
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}
