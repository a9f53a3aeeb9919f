import type { Child } from 'hono/jsx';

/** What to import while the catalog has no publisher's STIG. `inbox` is null without folder or session. */
export function FirstRun({ inbox }: { inbox: string | null }): Child {
  return (
    <section aria-labelledby="first-run">
      <h2 id="first-run">Bring your STIGs</h2>
      <p>The catalog holds only the samples of the package. Three steps fill it:</p>
      <ol>
        <li>
          <b>Download</b> where there is a network: the <i>SRG-STIG Library Compilation</i> of the quarter
          from DISA (public.cyber.mil). For the texts of controls, also the OSCAL catalog of SP 800-53 and the
          CPRT export of SP 800-171 from NIST (csrc.nist.gov).
        </li>
        <li>
          <b>Carry</b> the files over as they are. Zips stay zipped.
        </li>
        <li>
          {inbox === null ? (
            <>
              <b>Import</b> them on the machine that runs Gapstone: <code>gapstone import FILE…</code>
            </>
          ) : (
            <>
              <b>Put</b> them into the folder <code>{inbox}</code> on the machine that runs Gapstone. They are
              imported when they have stood still for two seconds, and stay as they are.
            </>
          )}{' '}
          The STIGs appear here at once; <a href="/catalog">Content</a> names each file and what became of it.
        </li>
      </ol>
    </section>
  );
}
