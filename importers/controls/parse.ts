import { isDiacapMap, parseDiacapMap } from '../crosswalk/diacap.ts';
import { isMappingsCsv, parseMappingsCsv } from '../crosswalk/mappings-csv.ts';
import type { XmlElement } from '../read/xml.ts';
import type { ControlsResult } from './catalog.ts';
import { isControlsCsv, parseControlsCsv } from './controls-csv.ts';
import { parseCprt } from './cprt.ts';
import { cprtDocument } from './cprt-shape.ts';
import { isDod8500, parseDod8500 } from './dod-8500.ts';
import { isOscalCatalog, parseOscalCatalog } from './oscal-catalog.ts';
import { isOscalProfile, parseOscalProfile } from './oscal-profile.ts';
import {
  isOscal800171,
  isOscalXmlCatalog,
  isOscalXmlProfile,
  parseOscal800171,
  parseOscalXmlCatalog,
  parseOscalXmlProfile,
} from './oscal-xml.ts';

/** Reads a JSON value as a source about controls; null when it has the form of none. Throws `ImportError`. */
export function parseControlsJson(value: unknown): ControlsResult | null {
  if (isOscal800171(value)) return parseOscal800171(value);
  if (isOscalCatalog(value)) return parseOscalCatalog(value);
  if (isOscalProfile(value)) return parseOscalProfile(value);
  return cprtDocument(value) === null ? null : parseCprt(value);
}

/**
 * Reads an XML text that has passed the gate as a source about controls, but for the CCI list, which is read from the
 * gate's events (`CciListBuilder`); null when its root is that of none. Throws `ImportError`.
 */
export function parseControlsXml(root: XmlElement, text: () => string): ControlsResult | null {
  if (isOscalXmlCatalog(root)) return parseOscalXmlCatalog(text());
  if (isOscalXmlProfile(root)) return parseOscalXmlProfile(text());
  if (isDod8500(root)) return parseDod8500(text());
  return isDiacapMap(root) ? parseDiacapMap(text()) : null;
}

/** Reads a CSV text as a source about controls; null when its header begins like that of none. Throws `ImportError`. */
export function parseControlsText(text: string): ControlsResult | null {
  if (isControlsCsv(text)) return parseControlsCsv(text);
  return isMappingsCsv(text) ? parseMappingsCsv(text) : null;
}
