import { FieldsForm, Hidden, Problem, TextArea } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';
import type { Ways } from './ways.ts';

/** The sign-in page: the ways that are set up, the usual one first (rules D1.7 and D43). */
export function signInPage(page: {
  ways: Ways;
  idleMinutes: number;
  next: string;
  problem: string | null;
}): View {
  const { ways, idleMinutes, next, problem } = page;
  const isTokenAlone = !ways.certificate && ways.organization === null;
  const byToken = <TokenForm next={next} />;
  return {
    title: 'Sign in',
    body: (
      <>
        <p class="lead">
          {isTokenAlone ? 'Paste a user token to start' : 'Start'} a session in this browser. The session ends
          after {idleMinutes} minutes without activity, after 12 hours, or when what you sign in with expires.
        </p>
        <Problem text={problem} />
        {ways.certificate ? (
          <FieldsForm action="/signin" submit="Sign in with your certificate">
            <Hidden fields={{ next, with: 'certificate' }} />
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

function TokenForm({ next }: { next: string }) {
  return (
    <FieldsForm action="/signin" submit="Sign in" autocomplete="off">
      <Hidden fields={{ next }} />
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
