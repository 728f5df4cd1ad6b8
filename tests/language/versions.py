"""Sentences of pages in several languages; a version has the same ones as the original."""

from __future__ import annotations

SENTENCES = {
    "en": (
        "The function number {} returns a list of all windows that the user has opened before.",
        "If you want to close option {}, press the button at the top of the screen and wait for a moment.",
        "There are many ways in which setting {} may be changed by those who know what they are doing.",
        "This event {} is sent when the application has been started and is ready for its first task.",
    ),
    "fr": (
        "La fonction numéro {} renvoie une liste de toutes les fenêtres que l'utilisateur a ouvertes auparavant.",
        "Si vous voulez fermer l'option {}, appuyez sur le bouton en haut de l'écran et attendez un moment.",
        "Il y a beaucoup de façons dont le réglage {} peut être changé par ceux qui savent ce qu'ils font.",
        "Cet événement {} est envoyé quand l'application a été démarrée et qu'elle est prête pour sa première tâche.",
    ),
    "es": (
        "La función número {} devuelve una lista de todas las ventanas que el usuario ha abierto antes.",
        "Si usted quiere cerrar la opción {}, pulse el botón que está arriba en la pantalla y espere un momento.",
        "Hay muchas maneras en que el ajuste {} puede ser cambiado por quienes saben lo que están haciendo.",
        "Este evento {} se envía cuando la aplicación se ha iniciado y está lista para su primera tarea.",
    ),
    "ru": (
        "Функция номер {} возвращает список всех окон, которые пользователь открыл раньше.",
        "Если вы хотите закрыть параметр {}, нажмите кнопку в верхней части экрана и подождите немного.",
        "Есть много способов, которыми настройка {} может быть изменена теми, кто знает, что делает.",
        "Это событие {} отправляется, когда приложение запущено и готово к своей первой задаче.",
    ),
}


def said(language: str, page: int, n: int) -> list[str]:
    """Return ``n`` sentences of a page; a version has the same ones as the original, by their numbers."""
    return [f"{SENTENCES[language][k % 4].format(100 * page + k)}" for k in range(n)]


def translated(language: str, page: int, n: int, left: int) -> list[str]:
    """Return a page of which the last ``left`` of ``n`` sentences were left in English."""
    return [*said(language, page, n)[: n - left], *said("en", page, n)[n - left :]]
