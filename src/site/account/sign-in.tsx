import type { Child } from 'hono/jsx';
import { Facts } from '../parts/components.tsx';
import { FieldsForm, Hidden, Problem, TextArea } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';
import type { Ways } from './ways.ts';

/** The sign-in page: the ways that are set up, the usual one first (rules D1.7 and D43). */
export function signInPage(page: {
  ways: Ways;
  idleMinutes: number;
  next: string;
  problem: string | null;
  kept: { to: string; fields: string } | null;
}): View {
  const { ways, idleMinutes, next, problem, kept } = page;
  const fields = { next, ...(kept ?? {}) };
  const isTokenAlone = !ways.certificate && ways.organization === null;
  const byToken = <TokenForm fields={fields} />;
  return {
    title: 'Sign in',
    body: (
      <>
        <p class="lead">
          {isTokenAlone ? 'Paste a user token to start' : 'Start'} a session in this browser. The session ends
          after {idleMinutes} minutes without activity, after 12 hours, or when what you sign in with expires.
        </p>
        {kept === null ? null : (
          <p class="notice">Your session has ended. This page keeps what you typed: sign in, then send it.</p>
        )}
        <Problem text={problem} />
        {ways.certificate ? (
          <FieldsForm action="/signin" submit="Sign in with your certificate">
            <Hidden fields={{ ...fields, with: 'certificate' }} />
            <p class="hint">
              Insert your card before you open the browser. It may ask you for a certificate and a PIN.
            </p>
          </FieldsForm>
        ) : null}
        {ways.organization === null ? null : (
          <p>
            <a class="button" href={ways.organization} rel="noreferrer">
              Sign in with your organization
            </a>
          </p>
        )}
        {isTokenAlone ? (
          byToken
        ) : (
          <details>
            <summary>Sign in with a user token</summary>
            {byToken}
          </details>
        )}
        <p>
          You can read <a href="/controls">controls</a> and the crosswalk without signing in.
        </p>
      </>
    ),
  };
}

function TokenForm({ fields }: { fields: Record<string, string> }) {
  return (
    <FieldsForm action="/signin" submit="Sign in" autocomplete="off">
      <Hidden fields={fields} />
      <TextArea
        name="token"
        label="User token"
        class="mono"
        required
        spellcheck={false}
        maxlength={8192}
        hint={
          <>
            It comes from your identity provider or, where Gapstone issues its own, from{' '}
            <code>gapstone token issue --subject NAME</code>. The server does not store it.
          </>
        }
      />
    </FieldsForm>
  );
}

/** After a sign-in at another site: leads on to a page of this one. */
export function leadOnPage(leadsTo: string): View {
  return {
    title: 'You are signed in',
    leadsTo,
    body: (
      <p class="lead">
        <a href={leadsTo}>Go on</a>
      </p>
    ),
  };
}

/** Offers to send the form that a reader filled in before the session ended. */
export function sendAgainPage({ to, fields }: { to: string; fields: [string, string][] }): View {
  return {
    title: 'You are signed in',
    body: (
      <>
        <p class="lead">Your form was not sent yet. Send it now, or leave this page to discard it.</p>
        <form class="fields" method="post" action={to}>
          {fields.map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <div>
            <button type="submit">Send the form</button>
          </div>
        </form>
        <h2>Content of the form</h2>
        <Facts
          of={[
            ['To', <span class="mono">{to}</span>],
            ...fields
              .filter(([name, value]) => name !== 'next' && value !== '')
              .map(([name, value]): [string, Child] => [name, <span class="prose">{value}</span>]),
          ]}
        />
      </>
    ),
  };
}
