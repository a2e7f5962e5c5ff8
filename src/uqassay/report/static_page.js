const page = JSON.parse(document.getElementById("payload").textContent);
paint(chosenTheme());
followScheme(paint);

const download = document.getElementById("json");
download.hidden = false;
download.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(page.rows, null, 1)], { type: "application/json" }));
  link.download = page.download;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
