import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../src/base/ids.ts';
import { packageRoot } from '../../src/base/root.ts';
import { compareVersions } from '../../src/catalog/controls/frameworks.ts';
import type { Database } from '../../src/db/database.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import { inCatalogOrder } from './catalog.ts';
import { type CatalogLayer, readLayers } from './merge.ts';

/** A source that is removed from the catalog, and why. */
export interface Removed {
  sourceId: number;
  source: string;
  reason: string;
}

/** A source whose catalog is only a part of another source's (rule D29.6). */
export interface Part extends Removed {
  /** The source with the controls that it lacks. */
  wholeId: number;
}

/**
 * Removes the sources whose catalogs are only parts, and gives why. A catalog is a part if another one of its framework
 * and version, of no newer edition, states at least as many active controls and some that it does not name. Editions
 * compare only within one kind of source. Facts that we ship count as no newer than any edition and are never a part.
 * The order of imports does not matter. Runs inside the run's transaction.
 */
export function removeParts(db: Database): Part[] {
  const shipped = shippedHashes();
  const parts = new Map<number, Part>();
  for (const layers of readLayers(db))
    for (const layer of layers) {
      const whole = shipped.has(layer.sha256) ? undefined : wholeOf(layer, layers, shipped);
      if (whole === undefined) continue;
      const { framework, version, sourceId, source } = layer;
      const lacking = inCatalogOrder(framework, whole.lacking);
      const reason = `only a part of ${framework} ${version}: it lacks ${lacking.length} active controls that ${excerpt(whole.source, 200)} states (${firstOf(lacking)})`;
      parts.set(sourceId, { sourceId, source, reason, wholeId: whole.sourceId });
    }
  const remove = db.sqlite.prepare('DELETE FROM sources WHERE id = ?');
  for (const sourceId of parts.keys()) remove.run(sourceId);
  return [...parts.values()];
}

/** How many active controls of its stated version a catalog lacks, in words; "" for none. */
export function lackingOf(
  db: Database,
  { framework, version, identifiers }: { framework: string; version: string; identifiers: string[] },
): string {
  const active = db.sqlite
    .prepare<[string, string], string>(
      `SELECT identifier FROM controls WHERE framework = ? AND version = ? AND status = 'active'`,
    )
    .pluck()
    .all(framework, version);
  const named = new Set(identifiers);
  const lacking = active.filter((identifier) => !named.has(identifier));
  if (lacking.length === 0) return '';
  return `it lacks ${lacking.length} active controls of ${framework} ${version} (${firstOf(inCatalogOrder(framework, lacking))})`;
}

/** The source that shows that a layer is a part: of several, the one with most controls that it lacks. */
function wholeOf(layer: CatalogLayer, layers: CatalogLayer[], shipped: Set<string>) {
  const named = new Set(layer.controls.map(({ identifier }) => identifier));
  return layers
    .filter((other) => other !== layer && mayBeWholeOf(other, layer, shipped))
    .map(({ sourceId, source, ...other }) => {
      const lacking = activeIn(other).filter((identifier) => !named.has(identifier));
      return { sourceId, source, lacking };
    })
    .filter(({ lacking }) => lacking.length > 0)
    .sort((a, b) => b.lacking.length - a.lacking.length)[0];
}

const activeIn = ({ controls }: Pick<CatalogLayer, 'controls'>) =>
  controls.filter(({ status }) => status === 'active').map(({ identifier }) => identifier);

/** Whether a layer may be a part of another: the other is no newer and has at least as many active controls. */
function mayBeWholeOf(other: CatalogLayer, layer: CatalogLayer, shipped: Set<string>): boolean {
  const isShipped = shipped.has(other.sha256);
  if (other.kind !== layer.kind && !isShipped) return false;
  const age = isShipped ? -1 : compareVersions(other.edition, layer.edition);
  const more = activeIn(other).length - activeIn(layer).length;
  if (age > 0 || more < 0) return false;
  // Two catalogs may each have controls that the other lacks: only one of them can be the whole.
  return more > 0 || age < 0 || other.sha256 < layer.sha256;
}

function shippedHashes(): Set<string> {
  const folder = join(packageRoot, 'data', 'controls');
  return new Set(readdirSync(folder).map((name) => sha256(readFileSync(join(folder, name)))));
}
