# Asks each service with a token of the administrator, and prints its name with `ok` or with what it answered. Arguments:
# NAME=URL. Keystone is asked for the token.
run=/run/stackloom
umask 077
# A request without an answer leaves the files of the one before.
rm -f "$run/headers" "$run/body"
touch "$run/body"
curl -sS -m 20 -D "$run/headers" -o "$run/body" -w '%{http_code}' -H 'Content-Type: application/json' -d "@$run/login.json" \
  http://127.0.0.1:5000/v3/auth/tokens >"$run/code" 2>"$run/error"
if [ "$(cat "$run/code")" != 201 ]; then
  echo "keystone $(cat "$run/code") $(cat "$run/error" "$run/body" | tr -d '\r\n' | cut -c1-300)"
  exit 0
fi
echo 'keystone ok'
sed -n 's/^[Xx]-[Ss]ubject-[Tt]oken: */X-Auth-Token: /p' "$run/headers" | tr -d '\r' >"$run/token"
for service in "$@"; do
  : >"$run/body"
  curl -sS -m 20 -o "$run/body" -w '%{http_code}' -H "@$run/token" "${service#*=}" >"$run/code" 2>"$run/error"
  case "$(cat "$run/code")" in
    2*) echo "${service%%=*} ok" ;;
    *) echo "${service%%=*} $(cat "$run/code") $(cat "$run/error" "$run/body" | tr -d '\r\n' | cut -c1-300)" ;;
  esac
done
