import { FieldsForm, Hidden, Problem, TextArea } from './forms.tsx';
import type { View } from './view.ts';

/** Signing in: a user token, pasted once (rule D1.7). */
export function signInPage({ next, problem }: { next: string; problem: string | null }): View {
  return {
    title: 'Sign in',
    body: (
      <>
        <p class="lead">
          Paste a user token to start a session in this browser. The session ends after 15 minutes without
          activity, after 12 hours, or when the token expires. The token itself is not stored.
        </p>
        <Problem text={problem} />
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
