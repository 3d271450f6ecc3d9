/** Answers the requests of the page: documents, the stream, actions, and the files of the page itself. */
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { Failure, formatError } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Answer, ConsoleBackend } from '../backend.ts'
import { actionRequest, type ErrorDocument } from '../documents/actions.ts'
import { ACTION_HEADER, documentNames, routes } from '../routes.ts'
import { actionsOff, badRequest, notFound, pageNotBuilt, tooManyStreams } from './findings.ts'
import type { Decision } from './guard.ts'
import { RELOAD_PAGE, RELOAD_POLICY } from './reload-page.ts'

export interface AppOptions {
  /** Decides about the request and finds the backend of the caller. */
  readonly admit: (context: Context) => Promise<Admission>
  readonly assets: Assets
}

export type Admission =
  | Exclude<Decision, { readonly kind: 'allow' }>
  | { readonly kind: 'allow'; readonly backend: ConsoleBackend }

/** Files of the page by their path, such as `/main.js`: nothing else can be asked for. */
export type Assets = ReadonlyMap<string, { readonly type: string; readonly body: Uint8Array<ArrayBuffer> }>

/** Scripts and styles only from this server, no frames, no forms, nothing from outside. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
}

const MAX_BODY = 16 << 10
const MAX_QUERY = 256

type Env = { Variables: { backend: ConsoleBackend } }

export function createApp({ admit, assets }: AppOptions): Hono<Env> {
  const app = new Hono<Env>()
  app.use(async (context, next) => {
    const admission = await admit(context)
    for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value)
    if (admission.kind === 'refuse') return refuse(context, admission.status, admission.finding)
    if (admission.kind === 'enter') {
      context.header('set-cookie', admission.cookie)
      return context.redirect('/', 303)
    }
    if (admission.kind === 'reload') {
      context.header('content-security-policy', RELOAD_POLICY)
      return context.html(RELOAD_PAGE)
    }
    context.set('backend', admission.backend)
    await next()
  })
  addDocuments(app)
  app.get(routes.stream, openStream)
  addActions(app)
  app.get('*', (context) => {
    const { path } = context.req
    if (path.startsWith('/api/')) return refuse(context, 404, finding(notFound, { what: 'such document' }))
    // Every view has a path of its own, and all of them are the same page.
    const asset = assets.get(path) ?? (/^\/[a-z]*$/.test(path) ? assets.get('/index.html') : undefined)
    if (asset) return context.body(asset.body, 200, { 'content-type': asset.type })
    if (assets.size === 0) return refuse(context, 503, finding(pageNotBuilt, {}))
    return refuse(context, 404, finding(notFound, { what: 'such page' }))
  })
  app.all('*', (context) => refuse(context, 405, finding(badRequest, { reason: 'the method is not allowed' })))
  app.onError((error, context) => {
    const [first] = error instanceof Failure ? error.findings : []
    return refuse(context, 500, first ?? finding(badRequest, { reason: formatError(error) }))
  })
  return app
}

type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 413 | 421 | 500 | 503

/** A browser that opens the page gets text, the page gets JSON. */
function refuse(context: Context, status: RefusalStatus, { code, message, remedy }: Finding): Response {
  const isPage = context.req.header('sec-fetch-mode') === 'navigate'
  if (isPage) return context.text(`${code}: ${message}\n${remedy}\n`, status)
  const body: ErrorDocument = { error: { code, message, remedy } }
  return context.json(body, status)
}

function addDocuments(app: Hono<Env>): void {
  const answer = async (context: Context<Env>, what: string, find: (backend: ConsoleBackend) => Promise<Answer>) => {
    const found = await find(context.get('backend'))
    return found ? context.json(found) : refuse(context, 404, finding(notFound, { what }))
  }
  for (const name of documentNames)
    app.get(routes[name], (context) => answer(context, `document ${name}`, (backend) => backend.document(name)))
  app.get(routes.network, (context) => {
    const { cloud, network } = context.req.param()
    return answer(context, `network ${cloud}/${network}`, (backend) => backend.network(cloud, network))
  })
  app.get(routes.topologyItem, (context) => {
    const { item } = context.req.param()
    return answer(context, item, (backend) => backend.topologyItem(item))
  })
  app.get(routes.runEvents, (context) => {
    const { run } = context.req.param()
    const from = Number(context.req.query('from') ?? 0)
    if (!Number.isSafeInteger(from) || from < 0)
      return refuse(context, 400, finding(badRequest, { reason: 'from is no index' }))
    return answer(context, `run ${run}`, (backend) => backend.runEvents(run, from))
  })
  app.get(routes.stage, (context) => {
    const { run, stage } = context.req.param()
    return answer(context, `stage ${stage}`, (backend) => backend.stage(run, stage))
  })
  app.get(routes.run, (context) => {
    const { run } = context.req.param()
    return answer(context, `run ${run}`, (backend) => backend.run(run))
  })
  app.get(routes.deployment, (context) => {
    const { namespace, deployment } = context.req.param()
    return answer(context, `deployment ${deployment}`, (backend) => backend.deployment(namespace, deployment))
  })
  app.get(routes.search, (context) => {
    const query = (context.req.query('q') ?? '').trim()
    if (query === '' || query.length > MAX_QUERY)
      return refuse(context, 400, finding(badRequest, { reason: `q must have 1 to ${MAX_QUERY} characters` }))
    return answer(context, query, (backend) => backend.search(query))
  })
}

function openStream(context: Context<Env>): Response {
  const names = context.req.query('documents')
  const stream = context.get('backend').hub.open({
    lastEventId: context.req.header('last-event-id') ?? context.req.query('after'),
    documents: names === undefined ? undefined : new Set(names.split(',')),
  })
  if (!stream) return refuse(context, 503, finding(tooManyStreams, {}))
  // Proxies must not collect events.
  return context.body(stream, 200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
}

function addActions(app: Hono<Env>): void {
  app.get(routes.actions, (context) => context.json({ actions: context.get('backend').actions() }))
  const limit = bodyLimit({
    maxSize: MAX_BODY,
    onError: (context) => refuse(context, 413, finding(badRequest, { reason: 'the body is too large' })),
  })
  app.post(routes.action, limit, async (context) => {
    const { startAction } = context.get('backend')
    // A form of another site can neither set this header nor send JSON without asking first.
    const isJson = context.req.header('content-type')?.split(';')[0] === 'application/json'
    if (context.req.header(ACTION_HEADER) === undefined || !isJson)
      return refuse(context, 403, finding(badRequest, { reason: `an action needs JSON and ${ACTION_HEADER}` }))
    if (!startAction) return refuse(context, 403, finding(actionsOff, {}))
    const request = actionRequest.safeParse(await context.req.json().catch(() => undefined))
    if (!request.success)
      return refuse(context, 400, finding(badRequest, { reason: request.error.issues[0]?.message ?? 'no JSON' }))
    const name = context.req.param('action')
    const started = await startAction(name, request.data)
    return started ? context.json(started) : refuse(context, 404, finding(notFound, { what: `action ${name}` }))
  })
}
