import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { Empty, link, shortTitle, Tabs } from '../parts/components.tsx';
import { Hidden, Input, Labelled, Problem, Select } from '../parts/forms.tsx';
import { partPath } from '../parts/list-frame.tsx';
import type { View } from '../parts/view.ts';

/** The texts that a sheet for eMASS takes from the form. */
export const emassTexts = [
  { name: 'dateTested', label: 'Date tested', isOfPoam: false },
  { name: 'testedBy', label: 'Tested by', isOfPoam: false },
  { name: 'officeOrg', label: 'Office or organization', isOfPoam: true },
  { name: 'scheduledCompletionDate', label: 'Scheduled completion date', isOfPoam: true },
  { name: 'resources', label: 'Resources required', isOfPoam: true },
] as const;
type EmassText = (typeof emassTexts)[number]['name'];

/** The fields of the forms beside the files, with their presets. */
export const presets = {
  slug: '',
  version: '',
  hostName: '',
  onChange: 'keep',
  overwrite: '',
  allowOlder: '',
  format: 'cklb',
  sheet: 'test-results',
  ...(Object.fromEntries(emassTexts.map(({ name }) => [name, ''])) as Record<EmassText, string>),
};
export type UpgradeForm = typeof presets;

/** How long the server stores the files of a form. */
export const storedMinutes = 15;
export const storedFor = `Gapstone keeps the files in memory for ${storedMinutes} minutes, and does not save them.`;

export interface StigChoice {
  slug: string;
  title: string;
  version: string;
}

/** The forms of checklists: each a tab with its own address (rule D28, D29, D30). */
const tools = [
  ['upgrade', 'Upgrade', '/checklists/upgrade'],
  ['results', 'From scan results', '/checklists/results'],
  ['inspect', 'Inspect', '/checklists/inspect'],
  ['hosts', 'For hosts', '/checklists/hosts'],
  ['emass', 'eMASS sheet', '/checklists/emass'],
  ['references', 'IDs in a text', '/references'],
] as const;
export type Tool = (typeof tools)[number][0];

/** The tools whose form brings checklists or scan results. */
export const uploadTools = ['upgrade', 'results', 'inspect', 'emass'] as const;
export type UploadTool = (typeof uploadTools)[number];

/** The address of a tool; `id` names the files that the server stores for a form. */
export const toolPath = (tool: Tool, id?: string) =>
  link(tools.find(([each]) => each === tool)![2], { upload: id });

const helps: Record<Tool, string> = {
  upgrade: 'upgrade-a-checklist',
  results: 'scan-results',
  inspect: 'scan-results',
  hosts: 'work-with-lists',
  emass: 'emass',
  references: 'check-the-ids-in-a-text',
};

/** A page among the tools of checklists. */
export function toolView(page: { tool: Tool; title: string; heading?: Child; body: Child }): View {
  const { tool, body, ...named } = page;
  return {
    ...named,
    section: 'checklists',
    help: helps[tool],
    body: (
      <>
        <Tabs label="Checklists" of={tools.map(([each, label, href]) => [label, href, each === tool])} />
        {body}
      </>
    ),
  };
}

const shownTools: Record<UploadTool, { title: string; lead: string; files: string; submit: string }> = {
  upgrade: {
    title: 'Upgrade checklists',
    lead: 'Brings checklists to a newer release. Each answer is carried over, carried over with a warning because its check or fix changed, or reset, with the reason.',
    files: 'Checklists: .ckl, .cklb or a zip of them',
    submit: 'Preview upgrade',
  },
  results: {
    title: 'Checklist from scan results',
    lead: 'Makes a checklist of scan results (XCCDF or ARF). Add a checklist to merge the results into it.',
    files: 'Scan results, with a checklist if there is one, or a zip of them',
    submit: 'Preview checklist',
  },
  inspect: {
    title: 'Inspect checklists',
    lead: 'Finds what STIG Manager or eMASS would refuse: old releases, unknown rules, answers without details, data about the host.',
    files: 'Checklists, scan results, or a zip of them',
    submit: 'Inspect',
  },
  emass: {
    title: 'Sheet for eMASS',
    lead: 'Makes a sheet of test results or a POA&M from checklists of any hosts and STIGs.',
    files: 'Checklists: .ckl, .cklb or a zip of them',
    submit: 'Preview sheet',
  },
};

/** The form of a tool. */
export function toolPage(page: {
  tool: UploadTool;
  form: UpgradeForm;
  stigs: StigChoice[];
  problem: string | null;
  /** The number of files of a refused form, and the id under which the server stores them. */
  attached?: number;
  id?: string;
}): View {
  const { tool, form, stigs, problem, attached = 0, id } = page;
  const { title, lead, files: label, submit } = shownTools[tool];
  const action = toolPath(tool, attached === 0 ? undefined : id);
  return toolView({
    tool,
    title,
    body: (
      <>
        <p class="lead">
          {lead} {storedFor}
        </p>
        <form class="fields" method="post" action={action} enctype="multipart/form-data">
          <Problem text={problem} />
          <FileField attached={attached} label={label} />
          {tool === 'emass' ? <EmassFields form={form} /> : null}
          {tool === 'upgrade' || tool === 'results' ? (
            <Options tool={tool} form={form} stigs={stigs} isOpen={problem !== null} />
          ) : null}
          <div>
            <button type="submit">{submit}</button>
          </div>
        </form>
      </>
    ),
  });
}

function EmassFields({ form }: { form: UpgradeForm }): Child {
  const inputs = (ofPoam: boolean) =>
    emassTexts
      .filter(({ isOfPoam }) => isOfPoam === ofPoam)
      .map(({ name, label }) => <Input name={name} label={label} value={form[name]} maxlength={1000} />);
  return (
    <>
      <Select
        name="sheet"
        label="Sheet"
        of={[
          ['test-results', 'Test results'],
          ['poam', 'POA&M'],
        ]}
        selected={form.sheet}
      />
      {inputs(false)}
      <details>
        <summary>For a POA&M</summary>
        {inputs(true)}
      </details>
    </>
  );
}

function FileField({ attached, label }: { attached: number; label: string }): Child {
  const hint =
    attached === 0
      ? undefined
      : `Your ${attached === 1 ? 'file is' : `${count(attached, 'file')} are`} still attached. Choose others to replace ${attached === 1 ? 'it' : 'them'}.`;
  return (
    <Labelled id="file" label={label} hint={hint}>
      <input
        id="file"
        name="file"
        type="file"
        accept=".ckl,.cklb,.xml,.json,.zip"
        multiple
        required={attached === 0}
        aria-describedby={hint && 'file-hint'}
      />
    </Labelled>
  );
}

/** The choice of the format of a checklist. */
function FormatSelect(props: { label: string; selected: string; id?: string }): Child {
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

/** A form with one button, about the files that the server stores under an id. */
export function SendAgain(props: {
  to: Tool;
  id: string;
  fields: Record<string, string>;
  submit: string;
  isQuiet?: boolean;
}): Child {
  return (
    <form class="actions" method="post" action={toolPath(props.to, props.id)} enctype="multipart/form-data">
      <Hidden fields={props.fields} />
      <button type="submit" class={props.isQuiet ? 'quiet' : undefined}>
        {props.submit}
      </button>
    </form>
  );
}

function Options(props: {
  tool: UploadTool;
  form: UpgradeForm;
  stigs: StigChoice[];
  isOpen: boolean;
}): Child {
  const { tool, form, stigs, isOpen } = props;
  return (
    <details open={isOpen || form.slug !== ''}>
      <summary>More options</summary>
      <Select
        name="slug"
        label="Target STIG"
        none="The STIG that the file names"
        of={stigs.map(({ slug, title, version }) => [slug, `${shortTitle(title)} ${version}`])}
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
        hint="Replaces the host name in the file. Leave empty to keep it."
      />
      {tool === 'upgrade' ? (
        <Select
          name="onChange"
          label="When a check or fix changed"
          of={[
            ['keep', 'Keep the answer, with a warning'],
            ['reset', 'Reset the answer'],
          ]}
          selected={form.onChange === 'reset' ? 'reset' : 'keep'}
        />
      ) : (
        <Select
          name="overwrite"
          label="When a scan disagrees with a checklist"
          of={[
            ['', 'Keep the answer in the checklist'],
            ['true', 'Use the scan result'],
          ]}
          selected={form.overwrite}
        />
      )}
      <Select
        name="allowOlder"
        label="When the catalog has only older releases"
        of={[
          ['', 'Keep the release of the checklist'],
          ['true', 'Go to the newest of them'],
        ]}
        selected={form.allowOlder}
      />
      <FormatSelect label="Format of the checklist" selected={form.format === 'ckl' ? 'ckl' : 'cklb'} />
    </details>
  );
}

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

/** The lists whose STIGs may become checklists of hosts. */
export function hostsToolPage(lists: { id: string; name: string }[]): View {
  return toolView({
    tool: 'hosts',
    title: 'Checklists for hosts',
    body: (
      <>
        <p class="lead">
          A list holds the STIGs of a system. Choose one, name its hosts, and download a blank checklist of
          each STIG for each host in one zip.
        </p>
        {lists.length === 0 ? (
          <Empty>
            You have no lists yet. <a href="/systems#new">Create a list</a>
          </Empty>
        ) : (
          <ul class="results">
            {lists.map(({ id, name }) => (
              <li>
                <a href={partPath(id, 'checklists')}>{name}</a>
              </li>
            ))}
          </ul>
        )}
      </>
    ),
  });
}
