import type { Child } from 'hono/jsx';
import { Facts } from '../parts/components.tsx';
import { FieldsForm, Hidden, Problem, TextArea } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';

/** The sign-in page: the reader pastes a user token once (rule D1.7). */
export function signInPage(page: {
  next: string;
  problem: string | null;
  kept: { to: string; fields: string } | null;
}): View {
  const { next, problem, kept } = page;
  return {
    title: 'Sign in',
    body: (
      <>
        <p class="lead">
          Paste a user token to start a session in this browser. The session ends after 15 minutes without
          activity, after 12 hours, or when the token expires. The server does not store the token.
        </p>
        {kept === null ? null : (
          <p class="notice">Your session has ended. This page keeps what you typed: sign in, then send it.</p>
        )}
        <Problem text={problem} />
        <FieldsForm action="/signin" submit="Sign in" autocomplete="off">
          <Hidden fields={{ next, ...(kept ?? {}) }} />
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
                <code>gapstone token issue --subject NAME</code>.
              </>
            }
          />
        </FieldsForm>
        <p>
          You can read <a href="/controls">controls</a> and the crosswalk without signing in.
        </p>
      </>
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
