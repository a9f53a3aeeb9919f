import type { Child } from 'hono/jsx';
import { Select } from '../parts/forms.tsx';
import { FormatSelect } from './upgrade-form.tsx';

/** The choice of the format and of the files; `id` begins those of the fields where a page has them twice. */
export function FilesFields(props: { form: { format: string; layout: string }; id?: string }): Child {
  const { form, id = '' } = props;
  return (
    <>
      <FormatSelect label="Format" selected={form.format} id={`${id}format`} />
      <Select
        name="layout"
        label="Files"
        id={`${id}layout`}
        of={[
          ['stig', 'One for each host and STIG'],
          ['host', 'One for each host, with all STIGs'],
        ]}
        selected={form.layout}
      />
    </>
  );
}
