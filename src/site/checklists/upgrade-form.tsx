import type { Child } from 'hono/jsx';
import { Hidden, Input, Labelled, Problem, Select } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';

export interface UpgradeForm {
  slug: string;
  version: string;
  hostName: string;
  onChange: string;
  overwrite: string;
  allowOlder: string;
  format: string;
}

export const emptyUpgrade: UpgradeForm = {
  slug: '',
  version: '',
  hostName: '',
  onChange: 'keep',
  overwrite: '',
  allowOlder: '',
  format: 'cklb',
};

/** The files of a form, base64: the server stores nothing, so a page sends them again. */
export type AttachedFiles = Partial<Record<'checklist' | 'results', string>>;

export const noFiles: AttachedFiles = {};

export interface StigChoice {
  slug: string;
  title: string;
  version: string;
}

/** The form that upgrades an old checklist to a release of the catalog. */
export function upgradePage(page: {
  form: UpgradeForm;
  stigs: StigChoice[];
  problem: string | null;
  /** The files of a refused form: the reader need not select them again. */
  files: AttachedFiles;
}): View {
  const { form, stigs, problem, files } = page;
  return {
    title: 'Upgrade a checklist',
    section: 'stigs',
    crumbs: [['STIGs', '/stigs']],
    body: (
      <>
        <p class="lead">
          Bring a .ckl or .cklb of an older release to a release in the catalog. Each answer is carried over,
          carried over with a warning because its check or fix changed, or reset. The report gives the reason
          for each. Choose several checklists to upgrade them at once, with one report. Choose scan results
          (XCCDF or ARF) to make a checklist of them, or both to merge the results into the checklist.
          Gapstone does not store the files. <a href="/references">Check the ids in any other text</a>
        </p>
        <form class="fields" method="post" action="/upgrade" enctype="multipart/form-data">
          <Problem text={problem} />
          <FileField files={files} />
          <Select
            name="slug"
            label="Target STIG"
            none="The STIG named in the checklist"
            of={stigs.map(({ slug, title, version }) => [slug, `${title} ${version}`])}
            selected={form.slug}
          />
          <Input
            name="version"
            label="Release"
            value={form.version}
            hint="Such as V2R8. Leave empty for the latest release."
          />
          <Input
            name="hostName"
            label="Host name"
            value={form.hostName}
            maxlength={255}
            hint="Replaces the host name in the checklist. Leave empty to keep it."
          />
          <Options form={form} />
          <div class="actions">
            <button type="submit">Preview upgrade</button>
            <button type="submit" name="as" value="inspect">
              Inspect
            </button>
          </div>
        </form>
      </>
    ),
  };
}

function FileField({ files }: { files: AttachedFiles }): Child {
  const attached = [
    ...(files.checklist === undefined ? [] : ['checklist']),
    ...(files.results === undefined ? [] : ['scan results']),
  ];
  return (
    <Labelled
      id="file"
      label="Checklist or scan results"
      hint={
        attached.length === 0
          ? undefined
          : `Your ${attached.join(' and ')} ${attached.join().endsWith('s') ? 'are' : 'is'} still attached. Choose another file to replace ${attached.join().endsWith('s') ? 'them' : 'it'}.`
      }
    >
      <input
        id="file"
        name="file"
        type="file"
        accept=".ckl,.cklb,.xml,.json"
        multiple
        required={attached.length === 0}
        aria-describedby={attached.length === 0 ? undefined : 'file-hint'}
      />
      <Hidden fields={{ ...files }} />
    </Labelled>
  );
}

/** The choice of the format of a checklist. */
export function FormatSelect(props: { label: string; selected: string; id?: string }): Child {
  const { label, selected, id = 'format' } = props;
  return (
    <Select
      name="format"
      id={id}
      label={label}
      of={[
        ['cklb', '.cklb (STIG Viewer 3, STIG Manager)'],
        ['ckl', '.ckl (STIG Viewer 2)'],
      ]}
      selected={selected}
    />
  );
}

/** A form with one button that sends files and fields of a page again: the server did not store them. */
export function SendAgain(props: {
  fields: Record<string, string>;
  submit: string;
  to?: string;
  isQuiet?: boolean;
  children?: Child;
}): Child {
  return (
    <form class="actions" method="post" action={props.to ?? '/upgrade'} enctype="multipart/form-data">
      <Hidden fields={props.fields} />
      {props.children}
      <button type="submit" class={props.isQuiet ? 'quiet' : undefined}>
        {props.submit}
      </button>
    </form>
  );
}

function Options({ form }: { form: UpgradeForm }): Child {
  return (
    <>
      <Select
        name="onChange"
        label="When a check or fix changed"
        of={[
          ['keep', 'Keep the answer, with a warning'],
          ['reset', 'Reset the answer'],
        ]}
        selected={form.onChange === 'reset' ? 'reset' : 'keep'}
      />
      <Select
        name="overwrite"
        label="When a scan disagrees"
        of={[
          ['', 'Keep the answer in the checklist'],
          ['true', 'Use the scan result'],
        ]}
        selected={form.overwrite}
      />
      <Select
        name="allowOlder"
        label="When the catalog has only older releases"
        of={[
          ['', 'Keep the release of the checklist'],
          ['true', 'Go to the newest of them'],
        ]}
        selected={form.allowOlder}
      />
      <FormatSelect
        label="Format of the upgraded checklist"
        selected={form.format === 'ckl' ? 'ckl' : 'cklb'}
      />
    </>
  );
}
