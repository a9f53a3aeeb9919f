import type { Child } from 'hono/jsx';
import { formatDigest } from '../../base/text.ts';
import type { PageFrame, Section, View } from './view.ts';

interface NavigationEntry {
  section: Section;
  href: string;
  label: string;
  /** The heading of the guide for its pages that name no other. */
  help?: string;
  /** Who sees the entry; everybody by default. */
  needs?: 'user' | 'regdoc' | 'occ' | 'tokens';
}

const entries: NavigationEntry[] = [
  { section: 'stigs', href: '/stigs', label: 'STIGs', help: 'read-a-stig', needs: 'user' },
  { section: 'controls', href: '/controls', label: 'Controls', help: 'trace-a-control' },
  { section: 'checklists', href: '/checklists/upgrade', label: 'Checklists', needs: 'user' },
  { section: 'systems', href: '/systems', label: 'Systems', help: 'work-with-lists', needs: 'user' },
  {
    section: 'documents',
    href: '/documents',
    label: 'Documents',
    help: 'roles-and-regulations',
    needs: 'regdoc',
  },
  { section: 'roles', href: '/roles', label: 'Roles', help: 'roles-and-regulations', needs: 'occ' },
  { section: 'content', href: '/content', label: 'Content', help: 'what-is-in-the-catalog', needs: 'user' },
  { section: 'docs', href: '/docs', label: 'API' },
  { section: 'account', href: '/account', label: 'Your tokens', help: 'tokens-for-scripts', needs: 'tokens' },
];

/** The way to the part of the guide about a page. */
function helpEntry({ help, section }: View): NavigationEntry {
  const heading = help ?? entries.find((each) => each.section === section)?.help;
  return {
    section: 'help',
    href: heading === undefined ? '/docs/guide' : `/docs/guide#${heading}`,
    label: 'Help',
  };
}

/** A whole page as HTML text. */
export function renderPage(view: View, frame: PageFrame): string {
  return `<!DOCTYPE html>${(<Layout view={view} frame={frame} />).toString()}`;
}

function Layout({ view, frame }: { view: View; frame: PageFrame }) {
  const { assets, banner, visitor } = frame;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{view.title === 'Gapstone' ? 'Gapstone' : `${view.title} · Gapstone`}</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" href={assets.mark} type="image/svg+xml" />
        {view.leadsTo === undefined ? null : <meta http-equiv="refresh" content={`0; url=${view.leadsTo}`} />}
        <script src={assets.script} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="top">
          <Banner text={banner} />
          <div class="bar">
            <a class="brand" href="/">
              <img src={assets.mark} alt="" width="26" height="26" />
              Gapstone
            </a>
            {view.findsItself ? null : <Find query={frame.query} />}
            <Account frame={frame} />
          </div>
          <nav aria-label="Main">
            <ul>
              {[...entries, helpEntry(view)]
                .filter((entry) => isShown(entry, visitor))
                .map((entry) => (
                  <li>
                    <a href={entry.href} aria-current={entry.section === view.section ? 'page' : undefined}>
                      {entry.label}
                    </a>
                  </li>
                ))}
            </ul>
          </nav>
        </header>
        <main id="main" tabindex={-1}>
          {frame.notice === null ? null : (
            <div class="notice" role="status">
              {frame.notice}
            </div>
          )}
          <SessionEnds frame={frame} />
          <PrintHead view={view} frame={frame} />
          <Crumbs of={view.crumbs ?? []} />
          {view.heading === null ? null : (
            <div class="section-head">
              <h1>{view.heading ?? view.title}</h1>
              {view.actions === undefined ? null : <div class="actions">{view.actions}</div>}
            </div>
          )}
          {view.body}
        </main>
        <footer>
          <p>
            Gapstone answers from its own catalog; nothing leaves this machine.{' '}
            <a href="/docs">API reference</a>
          </p>
          <p id="shortcut-keys" hidden />
          <Banner text={banner} />
        </footer>
      </body>
    </html>
  );
}

/** What the script says before a session ends, and after. Without script there is no warning. */
function SessionEnds({ frame: { visitor, here } }: { frame: PageFrame }): Child {
  if (visitor === null) return null;
  const { idleSeconds, secondsLeft, key } = visitor;
  const signIn = <a href={`/signin?next=${encodeURIComponent(here)}`}>Sign in again</a>;
  return (
    <div
      class="notice"
      id="session-over"
      role="status"
      data-idle={String(idleSeconds)}
      data-left={String(secondsLeft)}
      data-reader={key}
      hidden
    >
      <form data-when="soon" method="post" action="/session" hidden>
        Your session ends in 2 minutes, because you have not used it.{' '}
        <button type="submit">Stay signed in</button>
      </form>
      <p data-when="last" hidden>
        Your session ends in 2 minutes and cannot be extended. Save your work now, or {signIn}.
      </p>
      <p data-when="over" hidden>
        Your session has ended. What you typed is kept in this browser for you. {signIn} to go on here.
      </p>
      <p data-when="back" hidden>
        What you typed before your session ended is here again. It is not sent yet.
      </p>
    </div>
  );
}

/** On paper alone: what it is, from which catalog, of which day. */
function PrintHead({ view: { printed }, frame: { digest, day } }: { view: View; frame: PageFrame }): Child {
  return (
    <p class="printed">
      {printed === undefined ? '' : `${printed} · `}Gapstone, {day}
      {digest === null ? '' : `, catalog ${formatDigest(digest)}`}
    </p>
  );
}

function Find({ query }: { query: string }): Child {
  return (
    <search class="find">
      <form action="/search">
        <label class="hidden" for="find">
          Search STIGs, rules, controls, CCIs and roles
        </label>
        <input
          id="find"
          name="q"
          type="search"
          value={query}
          maxlength={200}
          placeholder="Search the catalog"
        />
        <button type="submit">Search</button>
      </form>
    </search>
  );
}

function Crumbs({ of }: { of: [label: string, href: string][] }): Child {
  if (of.length === 0) return null;
  return (
    <p class="crumbs">
      {of.map(([label, href], index) => (
        <>
          {index === 0 ? '' : ' / '}
          <a href={href}>{label}</a>
        </>
      ))}
    </p>
  );
}

function isShown({ needs }: NavigationEntry, visitor: PageFrame['visitor']): boolean {
  if (needs === undefined) return true;
  if (visitor === null) return false;
  return needs === 'user' || (needs === 'tokens' ? visitor.makesTokens : visitor.entitlements.has(needs));
}

function Banner({ text }: { text: string | null }): Child {
  return text === null ? null : <p class="banner">{text}</p>;
}

function Account({ frame }: { frame: PageFrame }): Child {
  if (frame.visitor === null) {
    return (
      <p class="account">
        <a class="button" href={`/signin?next=${encodeURIComponent(frame.here)}`}>
          Sign in
        </a>
      </p>
    );
  }
  return (
    <form class="account" method="post" action="/signout">
      <span class="who">{frame.visitor.name}</span>
      <button type="submit">Sign out</button>
    </form>
  );
}
