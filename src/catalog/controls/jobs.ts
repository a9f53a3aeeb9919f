import { type MadeJson, madeJson } from '../../http/answer.ts';
import { type RenderedFile, renderFile } from '../../http/downloads.ts';
import { interchangeColumns, interchangeRows } from './export.ts';
import { toCatalog, toProfile } from './oscal.ts';
import type { ControlService, LoadedCatalog } from './queries.ts';
import type { CciList, CciQuery, ControlFilter, ExportQuery, Frameworks } from './schema.ts';

interface ControlServices {
  controls: ControlService;
}

/** Every framework with its imported versions and baselines. */
export const frameworkList = ({ controls }: ControlServices): Frameworks => controls.frameworks();

/** The control catalogs with their numbers of controls. */
export const loadedCatalogs = ({ controls }: ControlServices): LoadedCatalog[] => controls.loaded();

/** A page of CCIs. */
export const cciList = ({ controls }: ControlServices, query: CciQuery): CciList => controls.ccis(query);

/** The JSON of a list of controls, which has `pagination` only where a page or a limit is asked for (D6.5). */
export function controlList(
  { controls }: ControlServices,
  framework: string,
  filter: ControlFilter,
): MadeJson {
  const { pagination, ...list } = controls.page(framework, filter);
  const isPaged = filter.page !== undefined || filter.limit !== undefined;
  return madeJson(JSON.stringify(isPaged ? { ...list, pagination } : list));
}

/** A page of a catalog with what its filters offer. */
export const catalogPage = ({ controls }: ControlServices, framework: string, filter: ControlFilter) => ({
  ...controls.page(framework, filter),
  ...controls.baselines(framework, filter.version),
  versions: controls.versions(framework),
  families: controls.families(framework, filter.version),
});

/** One version of a catalog, or a baseline of it, as a file with a name. Throws as `controls.exported`. */
export function controlFile(
  { controls }: ControlServices,
  framework: string,
  { version, baseline, format, raw }: ExportQuery,
  banner: string | null,
): RenderedFile & { name: string } {
  const catalog = controls.exported(framework, version, baseline);
  const isOscal = format === 'oscal';
  const document = () => (catalog.baseline ? toProfile(catalog, catalog.baseline) : toCatalog(catalog));
  const file = {
    json: isOscal ? document() : {},
    root: 'controls',
    element: 'control',
    columns: interchangeColumns,
    rows: isOscal ? [] : interchangeRows(catalog),
  };
  const name = [catalog.framework, catalog.version, ...(baseline === undefined ? [] : [baseline])].join('_');
  return {
    name: name.replaceAll(' ', '_'),
    ...renderFile({ format: isOscal ? 'json' : format, raw, banner }, file),
  };
}
