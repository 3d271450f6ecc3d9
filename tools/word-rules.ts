/** The left column of docs/words.md as rules, and the few places where a word of it is right. Read by `lint-words.ts`. */

export interface WordRule {
  /** What to write instead, as that page has it. */
  readonly use: string
  /** Matches in comments, strings and docs. */
  readonly prose?: RegExp
  readonly identifiers?: {
    /** Parts of an identifier, in lower case. */
    readonly words?: readonly string[]
    /** A pattern for the identifier as a whole. */
    readonly names?: RegExp
    /** Names of variables and parameters; members and keys of this name are right. */
    readonly variables?: readonly string[]
  }
  /** The rule holds in these files only. */
  readonly files?: RegExp
}

/** A word that is wrong wherever it stands: in identifiers, comments, strings and docs. */
function everywhere(use: string, ...words: readonly string[]): WordRule {
  return { use, prose: new RegExp(`\\b(?:${words.join('|')})\\b`, 'gi'), identifiers: { words } }
}

function inIdentifiers(use: string, ...words: readonly string[]): WordRule {
  return { use, identifiers: { words } }
}

function inProse(use: string, pattern: string): WordRule {
  return { use, prose: new RegExp(`\\b(?:${pattern})\\b`, 'gi') }
}

const CONTROLLERS = /^src\/(controllers|dataplane|kube|operator)\//

export const wordRules: readonly WordRule[] = [
  { use: 'reconcile, check', identifiers: { names: /^look$/ } },
  {
    use: 'reconcileNormal, reconcileDelete',
    identifiers: { names: /^(serve|takeLeave|withoutIpSet)$/ },
    files: CONTROLLERS,
  },
  inIdentifiers('Event', 'happening', 'happenings'),
  { use: 'Event', prose: /\bHappenings?\b/g },
  everywhere('informers, live view', 'lookout', 'lookouts'),
  everywhere('requeueOnConflict, retry, RetryPolicy', 'calmly', 'patiently', 'patience'),
  inIdentifiers('the dependencies by name, XDeps', 'world', 'scene', 'crew'),
  everywhere('own writes', 'echoes'),
  { use: 'pendingCreates', identifiers: { names: /^[fF]resh([A-Z]|$)/ }, files: CONTROLLERS },
  everywhere('high-cardinality kinds', 'crowd', 'crowds'),
  {
    use: 'semaphore, limiter',
    prose: /(?<!feature[ -])\bgates?\b/gi,
    identifiers: { words: ['gate', 'gates'] },
  },
  inIdentifiers('sequencer, limiter', 'turns'),
  everywhere('RequestInfo', 'errand', 'errands'),
  inIdentifiers('roundTrip', 'exchange', 'exchanges'),
  everywhere('leadership', 'tenure', 'tenures'),
  everywhere('leader-fenced client', 'fence', 'fences'),
  everywhere('supervisor spec', 'mission', 'missions'),
  everywhere('program table', 'roster', 'rosters'),
  { use: 'start', identifiers: { words: ['raise', 'raised', 'raises'] }, files: /^(src|tools)\/.*sandbox/ },
  everywhere('ClusterState', 'patient', 'patients'),
  everywhere('observer', 'witness', 'witnesses'),
  inIdentifiers('inventory, or what it is', 'stock', 'duty', 'duties', 'told', 'standing'),
  { use: 'the noun that it is', identifiers: { names: /^(Held|Given)$/ } },
  everywhere('request, requested', 'wish', 'wishes'),
  inIdentifiers('request, requested, desired', 'want', 'wants'),
  inProse('requests, asks for, needs', 'wants'),
  everywhere('capacity, free, space', 'room', 'rooms'),
  everywhere('description', 'story', 'stories'),
  inProse('the architecture', 'the house'),
  inProse('set manually', 'by hand of'),
  inProse('in this tick', 'in this breath'),
  inProse('is being deleted', 'on (?:its|their) way out'),
  inProse('is in', 'stands? in(?!-)'),
  inProse('refers to', 'speaks? of|spoken of'),
  everywhere('again', 'anew'),
  inProse('forever', 'for ever'),
  inProse('unless given', 'unless (?:it (?:is|was) )?(?:said|told)'),
  everywhere('no X', 'nobody'),
  everywhere('another X, someone', 'somebody'),
  everywhere('the X that', 'whoever', 'whomever'),
  inProse('the X that, it', 'whom|him|himself|he|his'),
  {
    use: 'that, which (who is for persons)',
    prose:
      /(?<!\b(?:one|those|person|people|user|users|reader|readers|engineer|engineers|operator|administrator|reviewer|contributor|developer)[,:]? )\bwho\b(?!:)/gi,
  },
  { use: 'what it is', identifiers: { variables: ['one', 'at', 'own', 'it', 'who'] } },
  inProse('is notified, receives', '(?:is|are|was|were|be|been|being|gets?) told|hears? of|heard of'),
  inProse('the Role/Node API, the NodeSet API', "data plane of (?:2023|today)|today's data plane"),
  everywhere('simulated', 'played'),
  {
    use: 'what the document is about',
    prose: /\bdocuments? 00[0-4]\b/gi,
    identifiers: { names: /[dD]ocument00[0-4]/ },
    files: /^(?!.*\.test\.ts$|test\/|bench\/)/,
  },
  {
    // A string starts with its quote, which is no backtick of the sentence.
    use: 'the command in backticks, so that the console offers it',
    prose:
      /(?:^[`'"}]|(?<![`\w./$-]))(?:brew|kubectl|limactl|nmstatectl|oc|stackloom|systemctl|apt-get|git rm) (?:-|[a-z]+\b)/g,
    files: /^src\/(?:.*\/)?findings(?:\/[\w-]+)?\.ts$|^src\/doctor\/findings\//,
  },
]

interface Exception {
  /** The whole of what was found. */
  readonly found: RegExp
  readonly file?: RegExp
  /** The line that it stands in. */
  readonly line?: RegExp
  readonly reason: string
}

export const exceptions: readonly Exception[] = [
  {
    found: /^played$/,
    line: /sandbox\.stackloom\.dev\/played|annotation\('played'\)/,
    reason: 'the key of an annotation on objects of the sandbox',
  },
  {
    found: /^room$/,
    file: /^(src\/verify|docs\/(guide\/verify|reference\/commands\/verify)\.md)/,
    line: /'room'|`room`/,
    reason: 'the id of a check in the reports of verify, which programs read',
  },
  {
    found: /^whom$/,
    file: /^src\/plan\/written-lock\.ts$/,
    reason: 'the header of lock files, which stays byte for byte',
  },
  { found: /^wish$/, line: /'stackloom\.dev\/wish'/, reason: 'the key of an annotation on objects in clusters' },
  {
    found: /^(nobody|wishes)$/,
    file: /^src\/doctor\/rules\//,
    reason: 'ids of rules in the output of doctor, which programs read',
  },
  { found: /^fence$/, file: /^tools\/docs-site\.ts$/, reason: 'the name of a rule of markdown-it' },
  { found: /feature.*gate/i, reason: 'Kubernetes and OpenShift call them feature gates' },
  {
    found: /./,
    file: /^tools\/(word-rules|lint-words(\.test)?)\.ts$|^docs\/words\.md$/,
    reason: 'the list itself',
  },
  {
    found: /systemctl restart/,
    line: /`sudo systemctl/,
    reason: 'the second word of a command in backticks',
  },
  { found: /limactl cannot/, file: /^src\/lab\/findings\//, reason: 'a sentence about the program' },
  {
    found: /kubectl apply/,
    line: /`stackloom operator crds \| kubectl/,
    reason: 'the second command of a pipe in backticks',
  },
  {
    found: /^story$/,
    file: /^src\/cli\/explain\//,
    reason: 'the key of `explain -o json`, which programs read',
  },
]
