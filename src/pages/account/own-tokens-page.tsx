import { Table } from '../parts/components.tsx';
import { FieldsForm, Input, PostButton, Select } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';

/** The lifetimes that the page offers: text of the API, and words. */
const lifetimes: [string, string][] = [
  ['8h', '8 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
];

interface Shown {
  id: string;
  name: string;
  createdAt: string;
  expiresAt: string;
}

/** The tokens that a reader made for scripts; `made` is shown once (rule D43.6). */
export function ownTokensPage({
  tokens,
  made,
}: {
  tokens: Shown[];
  made: { name: string; token: string } | null;
}): View {
  const at = (time: string) => <time datetime={time}>{`${time.slice(0, 16).replace('T', ' ')} UTC`}</time>;
  return {
    title: 'Your tokens',
    section: 'account',
    body: (
      <>
        <p class="lead">
          A token lets a script ask in your name, with the organization and the permissions that you have when
          you make it. Revoke one that you no longer need.
        </p>
        {made === null ? null : (
          <section class="notice" role="status">
            <p>This is the token “{made.name}”. Copy it now: it is shown only once.</p>
            <p>
              <code class="mono" data-cite="token">
                {made.token}
              </code>
            </p>
          </section>
        )}
        <Table
          caption="Your tokens"
          head={['Name', 'Made', 'Valid until', 'Revoke']}
          rows={tokens.map(({ id, name, createdAt, expiresAt }) => [
            name,
            at(createdAt),
            at(expiresAt),
            <PostButton action="/account/revoke" label="Revoke" about={name} fields={{ id }} />,
          ])}
        >
          You have no tokens.
        </Table>
        <h2>Create a token</h2>
        <FieldsForm action="/account" submit="Create token" autocomplete="off">
          <Input
            name="name"
            label="Name"
            hint="What it is for, such as the name of the script."
            required
            maxlength={100}
          />
          <Select name="ttl" label="Valid for" of={lifetimes} selected="8h" />
        </FieldsForm>
      </>
    ),
  };
}
