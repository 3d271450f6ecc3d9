/** The answer to a link of another site: a page that opens the console from here, so that the browser sends the cookie. */
import { createHash } from 'node:crypto'

// A redirect would not do: a browser keeps a strict cookie back in all redirects of a link of another site. The part
// behind `#` names the view, and only a script can keep it.
const SCRIPT = "location.replace('/open' + location.hash)"

export const RELOAD_PAGE = `<!doctype html><meta charset="utf-8"><title>Stackloom</title><script>${SCRIPT}</script>`

export const RELOAD_POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
