export const adviceOf = {
  'unknown-stig': 'Import this STIG, then inspect the checklist again.',
  'other-stig': 'Check which STIG the file is of: write its name and benchmark id, or import that STIG.',
  'repeated-stig': 'Keep one of the two: tools read only the first, or merge both without a warning.',
  'unreadable-release':
    'Write the release-info as DISA does, such as "Release: 9 Benchmark Date: 01 Jul 2026", or upgrade the checklist.',
  'other-release': 'Upgrade the checklist to the intended release, so that name and rules agree.',
  'old-release': 'Upgrade the checklist to the current release and review the rules that changed.',
  'missing-rule': 'Upgrade the checklist to its own release: that adds the rule as not reviewed.',
  'unknown-rule': 'Remove the rule, or find out which STIG it belongs to.',
  'other-revision': 'Read the rule of this release again, then upgrade the checklist.',
  'ids-differ': 'Upgrade the checklist: that writes the identifiers of the release.',
  'repeated-rule': 'Keep one of the two answers.',
  'no-rule-id': 'Write the id of the rule: STIG Manager and STIG Viewer find rules by it.',
  'check-differs': 'Restore the check of the release, or say in the comments why you used another one.',
  'fix-differs': 'Restore the fix of the release.',
  'text-differs': 'Restore the title and the discussion of the release.',
  'severity-differs': 'Restore the severity, and use a severity override with its reason instead.',
  'ccis-differ': 'Restore the CCIs of the release: eMASS assigns results to controls by them.',
  'bad-status':
    'Use Not_Reviewed, Not_Applicable, Open or NotAFinding: STIG Manager drops a rule with another status.',
  'bad-severity': 'Use high, medium or low.',
  'no-details': 'Write your evidence into the finding details: STIG Manager and reviewers ask for it.',
  'long-text': 'Shorten it: STIG Manager and eMASS cut off the rest. Attach long output instead.',
  'override-without-reason': 'Write the justification of the severity override.',
  'reason-without-override': 'Override the severity, or remove the justification.',
  'no-host-name': 'Write the host name: STIG Manager refuses a checklist without one.',
  'long-target-field': 'Shorten it to 255 characters: STIG Manager cuts off the rest.',
  'bad-ip-address': 'Write IPv4 or IPv6 addresses, separated by commas.',
  'bad-mac-address': 'Write MAC addresses such as 00:15:5D:0E:92:0C, separated by commas.',
  'bad-fqdn': 'Write a fully qualified domain name such as web01.example.mil.',
  'bad-role': 'Use None, Workstation, Member Server or Domain Controller.',
  'bad-target-type': 'Use Computing or Non-Computing.',
  'bad-uuid': 'Save the checklist again: STIG Viewer 3 finds STIGs and rules by their UUIDs.',
} as const;

export type FindingCode = keyof typeof adviceOf;

/** Findings for which tools refuse or misread a file. All others are warnings. */
export const errors = new Set<FindingCode>([
  'unknown-stig',
  'repeated-stig',
  'missing-rule',
  'unknown-rule',
  'repeated-rule',
  'no-rule-id',
  'bad-status',
  'bad-severity',
  'no-host-name',
]);
