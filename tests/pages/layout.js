// What is wrong with how a page is laid out, with everything in it opened: a list of texts, empty if nothing is.
(() => {
  const wrong = [];
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  document.querySelectorAll(".later").forEach((one) => one.classList.remove("later"));
  const named = (one) => `${one.tagName}.${one.getAttribute("class") ?? ""} "${one.textContent.trim().slice(0, 40)}"`;
  const shown = [...document.body.querySelectorAll("*")].filter(
    (one) => one.getClientRects().length && !one.closest(".hidden, .skip, script")
  );

  const room = document.documentElement;
  if (room.scrollWidth > room.clientWidth) wrong.push(`the page is ${room.scrollWidth} wide in ${room.clientWidth}`);
  for (const one of shown) {
    const style = getComputedStyle(one);
    if ([style.overflowX, style.overflowY].some((value) => ["auto", "scroll"].includes(value)))
      wrong.push(`scrolls: ${named(one)}`);
    if (!one.closest("svg") && one.scrollWidth > one.clientWidth + 1 && style.display !== "inline")
      wrong.push(`cut or too wide: ${named(one)}`);
  }

  // Boxes of words in a chart, turned as the words are.
  const corners = (text) => {
    const box = text.getBBox();
    const matrix = text.getScreenCTM();
    const ends = [[box.x, box.y], [box.x + box.width, box.y], [box.x + box.width, box.y + box.height], [box.x, box.y + box.height]];
    return ends.map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix));
  };
  const apart = (one, other) => [one, other].some((shape) => [0, 1].some((side) => {
    const across = { x: shape[side + 1].y - shape[side].y, y: shape[side].x - shape[side + 1].x };
    const length = Math.hypot(across.x, across.y) || 1;
    const [a, b] = [one, other].map((each) => each.map((point) => (point.x * across.x + point.y * across.y) / length));
    return Math.max(...a) <= Math.min(...b) + 0.5 || Math.max(...b) <= Math.min(...a) + 0.5;
  }));
  for (const chart of shown.filter((one) => one.tagName === "svg")) {
    const texts = [...chart.querySelectorAll("text")].map((text) => [named(text), corners(text)]);
    const frame = chart.getBoundingClientRect();
    texts.forEach(([name, box], place) => {
      for (const [other, theirs] of texts.slice(place + 1))
        if (!apart(box, theirs)) wrong.push(`overlap: ${name} and ${other}`);
      const inside = ({ x, y }) => x > frame.left - 1 && x < frame.right + 1 && y > frame.top - 1 && y < frame.bottom + 1;
      if (!box.every(inside)) wrong.push(`cut off: ${name}`);
    });
  }

  const parts = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((one) => one / 255).map(
      (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (one) => {
    for (let each = one; each; each = each.parentElement) {
      const colour = parts(getComputedStyle(each).backgroundColor);
      if ((colour[3] ?? 1) === 1) return colour;
    }
    return [255, 255, 255];
  };
  for (const one of shown) {
    if (![...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim())) continue;
    if (one.tagName === "title") continue;
    const style = getComputedStyle(one);
    const ink = luminance(parts(one.tagName === "text" ? style.fill : style.color));
    const paper = luminance(behind(one));
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(1)}: ${named(one)}`);
  }
  return wrong;
})()
