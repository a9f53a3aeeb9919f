import { Hidden, Problem } from './parts.tsx';
import type { View } from './view.ts';

/** Signing in: a user token, pasted once (rule D1.7). */
export function signInPage({ next, problem }: { next: string; problem: string | null }): View {
  return {
    title: 'Sign in',
    body: (
      <>
        <h1>Sign in</h1>
        <p class="lead">
          Paste a user token to start a session in this browser. The session ends after 15 minutes without
          activity, after 12 hours, or when the token expires. The token itself is not stored.
        </p>
        <Problem text={problem} />
        <form class="fields" method="post" action="/signin" autocomplete="off">
          <Hidden fields={{ next }} />
          <div>
            <label for="token">User token</label>
            <textarea
              id="token"
              name="token"
              class="mono"
              required
              spellcheck={false}
              maxlength={8192}
              aria-describedby="token-hint"
            />
            <p class="hint" id="token-hint">
              It comes from your identity provider or, where Gapstone issues its own, from{' '}
              <code>gapstone token issue --subject NAME</code>.
            </p>
          </div>
          <div>
            <button type="submit">Sign in</button>
          </div>
        </form>
        <p>
          You can read <a href="/controls">controls</a> and the crosswalk without signing in.
        </p>
      </>
    ),
  };
}
